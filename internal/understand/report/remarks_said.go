package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// remarked is one thing that remarks say, of whom and where.
type remarked struct {
	texts  []string // that differ in their numbers alone
	trials int      // that are counted
	envs   []string
	works  []string
}

// text says what the group's remarks say, each thing once, after the environments that
// it belongs to, their workloads where there are several, and the number of trials that
// it counts. What is said of one environment in several workloads with other numbers is
// one thing: a report of forty workloads said it forty times.
func (g *remarkGroup) text() string {
	var all []*remarked
	by := map[[2]string]*remarked{} // environment and shape
	name := shortNames(lists.Map(g.remarks, func(m record.Remark) string { return m.Env }))
	for _, m := range g.remarks {
		n, text := counted(words.Clean(m.Text))
		env := name(m.Env)
		key := [2]string{env, numbers.ReplaceAllString(text, "$1#")}
		if m.Workload == "" || g.works < 2 {
			key[1] = text
		}
		a := by[key]
		if a == nil {
			a = &remarked{}
			all, by[key] = append(all, a), a
		}
		a.trials += n
		a.texts, a.envs, a.works = with(a.texts, text), with(a.envs, env), with(a.works, words.Clean(m.Workload))
	}
	var said []*remarked // of several environments alike
	for _, a := range all {
		i := slices.IndexFunc(said, func(b *remarked) bool { return merged(b.texts) == merged(a.texts) && slices.Equal(b.works, a.works) })
		if i < 0 {
			said = append(said, a)
			continue
		}
		said[i].trials += a.trials
		said[i].envs = append(said[i].envs, a.envs...)
	}
	var sentences []string
	for i, a := range said {
		s := a.said(g.works)
		if i < len(said)-1 {
			s = strings.TrimSuffix(s, ".")
		}
		sentences = append(sentences, s)
	}
	return strings.Join(sentences, "; ")
}

// said is the sentence, in a run of so many workloads.
func (a *remarked) said(works int) string {
	who := strings.Join(a.envs, ", ")
	if a.trials > 0 {
		who = strings.TrimSuffix(words.Plural(a.trials, "trial")+" of "+who, " of ")
	}
	where := ""
	switch n := len(a.works); {
	case who == "" || n == 0 || works < 2:
	case n == works:
		where = ", in all workloads"
	default:
		where = fmt.Sprintf(", in %d of %s (%s)", n, words.Plural(works, "workload"), strings.Join(braced(a.works), ", "))
	}
	if who != "" {
		who += ": "
	}
	text := merged(a.texts)
	if where != "" {
		text = strings.TrimSuffix(text, ".") + where
	}
	return who + text
}

// braced are names of workloads, those that differ in a number at their end as a shell
// takes them: load/threads-{1,4,16}.
func braced(names []string) (out []string) {
	var ends analyze.Grouped[string, string]
	for _, name := range names {
		m := endNumber.FindStringSubmatch(name)
		if m == nil {
			m = []string{name, name, ""}
		}
		ends.Add(m[1], m[2])
	}
	for name, e := range ends.All() {
		if len(e) > 1 {
			name += "{" + strings.Join(e, ",") + "}"
		} else {
			name += e[0]
		}
		out = append(out, name)
	}
	return out
}

// endNumber is a number at the end of a name.
var endNumber = regexp.MustCompile(`^(.*-)(\d+)$`)

// with is a list with an entry, unless that is nothing or there already.
func with(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// numbers are those of a sentence, but not those in a name.
var numbers = regexp.MustCompile(`(^|[\s(±])(-?\d+(?:\.\d+)?)`)

// merged is a sentence for several that differ in their numbers alone: each number that
// is not the same in all is "lowest to highest".
func merged(texts []string) string {
	lows, highs := []string(nil), []string(nil)
	for _, t := range texts {
		for i, m := range numbers.FindAllStringSubmatch(t, -1) {
			n := m[2]
			switch v := number(n); {
			case i == len(lows):
				lows, highs = append(lows, n), append(highs, n)
			case v < number(lows[i]):
				lows[i] = n
			case v > number(highs[i]):
				highs[i] = n
			}
		}
	}
	i := -1
	return numbers.ReplaceAllStringFunc(texts[0], func(s string) string {
		i++
		before := numbers.FindStringSubmatch(s)[1]
		if lows[i] == highs[i] {
			return before + lows[i]
		}
		return before + lows[i] + " to " + highs[i]
	})
}

func number(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // the expression matches nothing else
	return v
}

// counted takes the number of trials off a remark on single ones: "4 trials: why".
func counted(text string) (n int, rest string) {
	first, rest, ok := strings.Cut(text, ": ")
	number, noun, _ := strings.Cut(first, " ")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || strings.TrimSuffix(noun, "s") != "trial" {
		return 0, text
	}
	return n, rest
}
