package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// isolated is the best environment that lacks nothing, where a first one does; "" where
// another line is about it.
func (s *screen) isolated(a *verdict.Answer) string {
	if s.lessIsolated(a) == "" {
		return ""
	}
	for _, env := range a.All[:len(a.All)-1] {
		if s.lacksNothing(env) {
			if env == a.Next || slices.Contains(a.First, env) {
				return ""
			}
			return env
		}
	}
	return ""
}

func (s *screen) lacksNothing(env string) bool {
	parts, known := s.partsLacking(env)
	return known && len(parts) == 0 && s.res.Environment(env).Baseline == ""
}

// isolation is the line about those that lack nothing, of each engine its best: who needs
// what the first ones lack chooses among these.
func (s *screen) isolation(a *verdict.Answer, best string) {
	envs := []string{best}
	for _, env := range a.All[slices.Index(a.All, best)+1:] {
		if s.lacksNothing(env) && !slices.ContainsFunc(envs, func(e string) bool { return s.engine(e) == s.engine(env) }) {
			envs = append(envs, env)
		}
	}
	if len(envs) == 1 {
		word := "best"
		if a.Fast() {
			word = "fastest"
		}
		s.behind(a, "Isolated", best, ", "+word+" fully isolated", ", fully isolated")
		return
	}
	s.tells("Isolated", s.fitting(func(yield func(string) bool) {
		for n := len(envs); n > 0; n-- {
			for _, f := range peerForms {
				if !yield(s.peers(a, envs, n, f)) {
					return
				}
			}
		}
	}), document.Plain)
}

// peerForm is how those that lack nothing are listed: whether with what ≈ says, from which
// one on by their engines, that they lack nothing before or behind them, and whether with
// their having no network where the line about those that most know is with one: the two
// lines hold the same engines against each other.
type peerForm struct {
	note          bool
	brief         int
	before, after string
	net           bool
}

// peerForms are those from the longest to the shortest.
var peerForms = []peerForm{
	{note: true, brief: never, before: "fully: ", net: true}, {brief: never, before: "fully: ", net: true},
	{brief: 1, before: "fully: ", net: true}, {brief: 1, after: " (fully)", net: true}, {brief: 1, net: true}, {net: true},
	{brief: 1, after: " (fully)"}, {after: " (fully)"}, {},
}

// withoutNetwork says that none of some has a network where what most know is with one.
func (s *screen) withoutNetwork(a *verdict.Answer, envs []string) string {
	title, worse, better := s.acquaintances(a)
	if title == "" || s.networked(worse, better) == "" {
		return ""
	}
	if slices.ContainsFunc(envs, func(env string) bool { return s.res.Environment(env).Facts["network"] != "none" }) {
		return ""
	}
	return " (no network)"
}

const never = math.MaxInt

// peers lists the first n that lack nothing, and counts the others.
func (s *screen) peers(a *verdict.Answer, envs []string, n int, f peerForm) string {
	const brief = 10 // characters of a name that stays whole
	var b strings.Builder
	ties := false
	for i, env := range envs[:n] {
		name, median := words.Clean(env), s.median(a, env, false)
		if i >= f.brief && words.Width(name) > brief {
			name = s.engine(env)
		}
		if i > 0 && f.brief < never {
			median = unitless(median, s.median(a, envs[0], false))
		}
		switch {
		case i == 0:
		case a.Apart(envs[i-1], env):
			b.WriteString(", ")
		default:
			b.WriteString(" ≈ ")
			ties = true
		}
		b.WriteString(name + " " + median)
	}
	if n < len(envs) {
		fmt.Fprintf(&b, ", %d more", len(envs)-n)
	}
	text := f.before + b.String() + f.after
	if f.net {
		text += s.withoutNetwork(a, envs[:n])
	}
	if ties && f.note {
		text += " (≈: cannot be told apart)"
	}
	return text
}

// unitless is a median without its unit where that is the one that stands before it; of a
// number without one there is none to leave out.
func unitless(median, before string) string {
	_, unit, _ := strings.Cut(before, " ")
	return strings.TrimSuffix(median, " "+unit)
}
