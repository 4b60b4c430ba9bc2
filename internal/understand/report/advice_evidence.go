package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze/sample"
)

// adviceEvidence says of each ranked environment what speaks for and against it.
func adviceEvidence(a *advise.Advice) []adviceList {
	var out []adviceList
	for _, r := range a.Ranked {
		l := adviceList{title: nameOf(r.Env)}
		for _, m := range r.Measured {
			l.lines = append(l.lines, measurementLine(a, m))
		}
		if len(r.Require) > 0 {
			l.lines = append(l.lines, marked{mark: "+", text: "required: " + answers(r.Require, advise.Yes)})
		}
		for _, s := range []advise.State{advise.Yes, advise.No, advise.Unknown} {
			if text := answers(r.Prefer, s); text != "" {
				l.lines = append(l.lines, marked{mark: stateMark[s], text: stateLead[s] + text})
			}
		}
		out = append(out, l)
	}
	return out
}

// measurementLine is one number with all that belongs to it.
func measurementLine(a *advise.Advice, m advise.Measurement) marked {
	c := a.Criteria[m.Criterion]
	u := scaleFor(c.Metric.Unit, []float64{m.Median.Value})
	s := fmt.Sprintf("%s %s, n %d", criterionName(a, m.Criterion), spaced(m.Median, u.by, u.unit), m.N)
	if m.Failed > 0 {
		s += fmt.Sprintf(", %d failed", m.Failed)
	}
	if m.Ratio != nil {
		s += ", " + spaced(*m.Ratio, 1, "× "+c.Reference)
	}
	switch {
	case m.Worse != nil:
		s += fmt.Sprintf("; %s worse than %s", spaced(*m.Worse, 1, "×"), nameOf(m.Best))
	case m.Stand == advise.For:
		s += "; the best"
	}
	mark := strings.TrimSpace(standMark[m.Stand])
	if m.Failed > 0 {
		mark = "−"
	}
	return marked{mark: mark, text: s}
}

// spaced writes a number, its unit and its interval.
func spaced(e sample.Estimate, by float64, unit string) string {
	n := numberOf(e, by, 3)
	return strings.TrimSpace(strings.TrimSpace(n.value+" "+unit) + " " + n.interval)
}

var (
	stateMark = map[advise.State]string{advise.Yes: "+", advise.No: "−", advise.Unknown: "?"}
	stateLead = map[advise.State]string{advise.No: "not ", advise.Unknown: "not known: "}
)

// answers lists the demands with this answer.
func answers(all []advise.Answer, s advise.State) string {
	var out []string
	for _, x := range all {
		if text := answerText(x); x.State == s && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// answerText names the properties that decide, each with what is known of it:
// of a demand that holds the ones that do, else all.
func answerText(x advise.Answer) string {
	var words []string
	facts := map[string][]string{}
	for _, f := range x.Facts {
		if x.State == advise.Yes && f.State != advise.Yes {
			continue
		}
		if facts[f.Property] == nil {
			words = append(words, f.Property)
		}
		facts[f.Property] = append(facts[f.Property], clean(f.From)+" "+clean(f.Text))
	}
	join := map[advise.State]string{advise.Yes: ", ", advise.No: " nor ", advise.Unknown: " or "}[x.State]
	for i, w := range words {
		words[i] = clean(w) + " (" + strings.Join(facts[w], "; ") + ")"
	}
	return strings.Join(words, join)
}

// adviceApart lists those without data, and those that are barred, the same
// reason of several once. What would measure them is one command for all.
func adviceApart(a *advise.Advice) []adviceList {
	apart, barred := adviceList{title: "Not ranked, since something is not known"}, adviceList{title: "Barred by what is required"}
	var names nameGroups
	var commands []string
	for _, x := range a.Apart {
		for i := 0; i < len(x.Lacks); {
			l := x.Lacks[i]
			s := sentence(clean(l.Reason))
			// Metrics of one workload lack for one reason.
			var metrics []string
			for ; i < len(x.Lacks) && x.Lacks[i].Workload == l.Workload && x.Lacks[i].Reason == l.Reason; i++ {
				metrics = append(metrics, clean(x.Lacks[i].Metric))
			}
			if l.Workload != "" {
				s = strings.Join(metrics, ", ") + " of " + clean(l.Workload) + ": " + s
			}
			m := marked{mark: "?", text: s}
			if strings.HasPrefix(l.Command, "plimsoll run ") {
				commands = append(commands, clean(l.Command))
			} else {
				m.advice = clean(l.Command)
			}
			names.add(m, nameOf(x.Env))
		}
	}
	apart.lines, apart.advice, names = names.lines(), advise.Together(commands), nameGroups{}
	for _, x := range a.Refused {
		for _, r := range x.Require {
			names.add(marked{mark: stateMark[r.State], text: stateLead[r.State] + answerText(r)}, nameOf(x.Env))
		}
	}
	barred.lines = names.lines()
	return []adviceList{apart, barred}
}

// nameGroups puts the names before what is the same of all of them.
type nameGroups struct {
	order []marked
	names map[marked][]string
}

func (g *nameGroups) add(m marked, name string) {
	if g.names == nil {
		g.names = map[marked][]string{}
	}
	if g.names[m] == nil {
		g.order = append(g.order, m)
	}
	if !slices.Contains(g.names[m], name) {
		g.names[m] = append(g.names[m], name)
	}
}

func (g *nameGroups) lines() []marked {
	var out []marked
	for _, m := range g.order {
		out = append(out, marked{mark: m.mark, text: strings.Join(g.names[m], ", ") + ": " + m.text, advice: m.advice})
	}
	return out
}

// adviceSensitivity says how far the first place hangs on the weights.
func adviceSensitivity(a *advise.Advice) adviceList {
	l := adviceList{title: "If the weights were others"}
	s := a.Sensitivity
	if s == nil {
		return l
	}
	for i, c := range a.Criteria {
		if c.Missing != "" {
			continue
		}
		text := ""
		for _, x := range s.Changes {
			if x.Criterion != i {
				continue
			}
			side := "above"
			if x.At < x.Weight {
				side = "below"
			}
			text += fmt.Sprintf("; %s %.3g %s comes first", side, x.At, nameOf(x.Env))
		}
		if text == "" {
			text = "; no other weight of it alone changes the first place"
		}
		l.lines = append(l.lines, marked{text: fmt.Sprintf("%s, weight %.3g%s.", criterionName(a, i), c.Weight, text)})
	}
	var chances []string
	for _, c := range s.First {
		if c.Share > 0 {
			chances = append(chances, fmt.Sprintf("%s %.3g %%", nameOf(c.Env), 100*c.Share))
		}
	}
	l.lines = append(l.lines, marked{text: fmt.Sprintf("With all weights at random, two thirds of them between half and double (%d draws), the first places are, by the estimates as they stand: %s.", s.Draws, strings.Join(chances, ", "))})
	return l
}
