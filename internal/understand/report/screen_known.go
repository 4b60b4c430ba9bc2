package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// known are the two engines that most readers know: where both were measured, how the
// one stands against the other is said, each as users run it.
var known = [2]acquainted{{"docker", "Docker"}, {"podman", "Podman"}}

type acquainted struct{ engine, title string }

// usual are the environments of both known engines that are nearest to what their users
// type, docker run, with nothing named, and have the same work before them; the first in
// the study of those that are as near, "" where no such two have a value.
func (s *screen) usual(a *verdict.Answer) (of [len(known)]string) {
	var all [len(known)][]*record.Environment
	for i := range s.res.Environments {
		e := &s.res.Environments[i]
		k := slices.IndexFunc(known[:], func(k acquainted) bool { return k.engine == s.engine(e.ID) })
		if k >= 0 && slices.Contains(a.All, e.ID) {
			all[k] = append(all[k], e)
		}
	}
	least := -1
	for _, x := range all[0] {
		for _, y := range all[1] {
			if n := len(s.departures(x)) + len(s.departures(y)); sameWork(x, y) && (least < 0 || n < least) {
				of, least = [len(known)]string{x.ID, y.ID}, n
			}
		}
	}
	return of
}

// sameWork: two start the same image, with what is in it, below the same limits.
func sameWork(x, y *record.Environment) bool {
	return !slices.ContainsFunc([]string{"image", "image-on", "cpu-limit", "memory-limit"}, func(f string) bool { return x.Levels[f] != y.Levels[f] })
}

// departures are the factors in which an environment is not what its engine does by
// itself for the user that ran it, as far as the record knows.
func (s *screen) departures(e *record.Environment) (out []string) {
	if e.Levels["client"] != "cli" && e.Facts["client"] != "cli" {
		out = append(out, "client")
	}
	for factor, level := range e.Levels {
		usual := false
		switch factor {
		case "client":
			continue // is counted already
		case "network":
			usual = level == "default"
		case "rootless":
			usual = (level == "yes") != s.res.Run.Host.Root
		case "runtime":
			usual = level == e.Facts["default-runtime"] || e.Facts["default-runtime"] == ""
		case "storage":
			usual = e.Facts["daemon"] == "" || e.Facts["daemon"] == "none" || e.Facts["daemon"] == "user's"
		}
		if !usual {
			out = append(out, factor)
		}
	}
	return out
}

// typed is what users type for an environment that departs in nothing, else its name.
func (s *screen) typed(env string) string {
	e := s.res.Environment(env)
	if e == nil || len(s.departures(e)) > 0 {
		return words.Clean(env)
	}
	return s.engine(env) + " run"
}

// acquaintances are both known engines as users run them, the worse one and its title
// first; "" where not both have a value.
func (s *screen) acquaintances(a *verdict.Answer) (title, worse, better string) {
	of := s.usual(a)
	better, worse = of[0], of[1]
	if better == "" || worse == "" {
		return "", "", ""
	}
	title = known[1].title
	if slices.Index(a.All, better) > slices.Index(a.All, worse) {
		better, worse, title = worse, better, known[0].title
	}
	return title, worse, better
}

// saidAlready: the lines about the next and the last hold the two against each other.
func saidAlready(a *verdict.Answer, worse, better string) bool {
	first, last := a.First[0], a.All[len(a.All)-1]
	return better == first && (worse == a.Next || worse == last) || better == a.Next && worse == last
}

// pairForm is how two are held against each other: whether with the network of both, with
// their runtimes where these differ, with the better one's value, and with that before the
// factor, which is the shortest that has all that the factor is of.
type pairForm struct {
	net, runtimes, other, listed bool
	wording
}

// pairForms are those from the longest to the shortest.
var pairForms = []pairForm{
	{net: true, runtimes: true, other: true, wording: worded[0]},
	{runtimes: true, other: true, wording: worded[0]},
	{runtimes: true, other: true, listed: true, wording: worded[1]},
	{runtimes: true, wording: worded[0]},
	{other: true, wording: worded[0]}, {wording: worded[0]}, {wording: worded[2]},
}

// acquaintance is the line that holds the one against the other, false where there is
// none or another line says it.
func (s *screen) acquaintance(a *verdict.Answer) bool {
	title, worse, better := s.acquaintances(a)
	if title == "" || a.Next == "" || saidAlready(a, worse, better) {
		return false
	}
	s.tells(title, s.fitting(func(yield func(string) bool) {
		for _, f := range pairForms {
			if !yield(s.pair(a, worse, better, f)) {
				return
			}
		}
	}), document.Plain)
	return true
}

// pair holds two against each other, or says that they cannot be told apart.
func (s *screen) pair(a *verdict.Answer, worse, better string, f pairForm) string {
	of, than := s.typed(worse), s.typed(better)
	if f.runtimes {
		of, than = of+s.runtimeOf(worse, better), than+s.runtimeOf(better, worse)
	}
	of += " " + s.median(a, worse, false)
	other, p := s.median(a, better, false), a.Behind(worse, better)
	apart := a.Apart(worse, better) && p != nil
	if f.listed {
		than = strings.Replace(than, " run (", " (", 1) // as the first is
		of += ", " + than + " " + unitless(other, s.median(a, worse, false)) + ": "
		if !apart {
			return of + "cannot be told yet"
		}
		factor, interval := words.Ratio(p.Estimate)
		return of + factor + interval
	}
	if f.other {
		than += " at " + other
	}
	said := "cannot be told from " + than + " yet"
	if apart {
		said = f.worse(a.Table.Metric, p.Estimate, than)
	}
	if f.net {
		said += s.networked(worse, better)
	}
	return of + ": " + said
}

// runtimeOf is the runtime of an environment in brackets where another has another one, and
// what users type does not say it: the two may differ by that alone.
func (s *screen) runtimeOf(env, other string) string {
	e, o := s.res.Environment(env), s.res.Environment(other)
	runtime := e.Levels["runtime"]
	if runtime == "" || runtime == o.Levels["runtime"] || s.typed(env) == words.Clean(env) && s.typed(other) == words.Clean(other) {
		return ""
	}
	return " (" + words.Clean(runtime) + ")"
}

// networked says that two have a network, which other rows may not have.
func (s *screen) networked(envs ...string) string {
	for _, env := range envs {
		switch s.res.Environment(env).Facts["network"] {
		case "", "none", "host":
			return ""
		}
	}
	return "; both with a network"
}

// typedLegend says which rows what users type is.
func (s *screen) typedLegend(a *verdict.Answer) string {
	title, worse, better := s.acquaintances(a)
	if title == "" || saidAlready(a, worse, better) {
		return ""
	}
	var parts []string
	for i, env := range s.usual(a) {
		if t := s.typed(env); t != words.Clean(env) && words.Clean(env) != known[i].engine {
			parts = append(parts, t+": "+words.Clean(env))
		}
	}
	return strings.Join(parts, " · ")
}

// acquainted is the line of several workloads about both known engines.
func (s *screen) acquainted(all []line) {
	better, worse, open := 0, 0, 0
	var who [len(known)][]string
	for _, l := range all {
		title, w, b := s.acquaintances(l.Answer)
		if title != "" {
			for i, env := range s.usual(l.Answer) {
				who[i] = analyze.Also(who[i], s.typed(env))
			}
		}
		switch {
		case title == "":
		case !l.Apart(w, b):
			open++
		case title == known[0].title:
			worse++
		default:
			better++
		}
	}
	if better+worse+open == 0 {
		return
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{better, "better in"}, {worse, "worse in"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.what, p.n))
		}
	}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d cannot be told", open))
	}
	name := func(i int) string {
		if len(who[i]) > 1 { // each workload has its own
			return "the nearest to " + known[i].engine + " run"
		}
		return who[i][0]
	}
	s.tells(known[0].title, name(0)+" against "+name(1)+": "+strings.Join(parts, ", "), document.Plain)
}
