package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// adviceEvidence says of each ranked environment what speaks for and against it.
func adviceEvidence(a *advise.Advice) []adviceList {
	var out []adviceList
	name := adviceNames(a)
	for _, r := range a.Ranked {
		l := adviceList{title: name(r.Env)}
		for _, m := range r.Measured {
			l.items = append(l.items, measurementLine(a, m, name))
		}
		if len(r.Require) > 0 {
			l.items = append(l.items, document.Item{Mark: "+", Text: document.Say("required: " + answers(r.Require, advise.Yes))})
		}
		for _, s := range []advise.State{advise.Yes, advise.No, advise.Unknown} {
			if text := answers(r.Prefer, s); text != "" {
				l.items = append(l.items, document.Item{Mark: stateMark[s], Text: document.Say(stateLead[s] + text)})
			}
		}
		out = append(out, l)
	}
	return out
}

// measurementLine is one number with all that belongs to it.
func measurementLine(a *advise.Advice, m advise.Measurement, name func(string) string) document.Item {
	c := a.Criteria[m.Criterion]
	u := words.UnitFor(c.Metric.Unit, []float64{m.Median.Value})
	s := fmt.Sprintf("%s %s, n %d", criterionName(a, m.Criterion), spaced(m.Median, u.By, u.Name), m.N)
	if m.Failed > 0 {
		s += fmt.Sprintf(", %d failed", m.Failed)
	}
	if m.Ratio != nil {
		s += ", " + spaced(*m.Ratio, 1, "× "+c.Reference)
	}
	switch {
	case m.Worse != nil:
		s += fmt.Sprintf("; %s worse than %s", spaced(*m.Worse, 1, "×"), name(m.Best))
	case m.Stand == advise.For:
		s += "; the best"
	}
	mark := strings.TrimSpace(standMark[m.Stand])
	if m.Failed > 0 {
		mark = "−"
	}
	return document.Item{Mark: mark, Text: document.Say(s)}
}

// spaced writes a number, its unit and its interval.
func spaced(e sample.Estimate, by float64, unit string) string {
	n := words.NumberOf(e, by, 3)
	return strings.TrimSpace(strings.TrimSpace(n.Value+" "+unit) + " " + n.Interval)
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
	var facts analyze.Grouped[string, string]
	for _, f := range x.Facts {
		if x.State != advise.Yes || f.State == advise.Yes {
			facts.Add(f.Property, words.Clean(f.From)+" "+words.Clean(f.Text))
		}
	}
	var out []string
	for property, known := range facts.All() {
		out = append(out, words.Clean(property)+" ("+strings.Join(known, "; ")+")")
	}
	join := map[advise.State]string{advise.Yes: ", ", advise.No: " nor ", advise.Unknown: " or "}[x.State]
	return strings.Join(out, join)
}

// adviceApart lists those without data, and those that are barred, the same
// reason of several once. What would measure them is one command for all.
func adviceApart(a *advise.Advice) []adviceList {
	apart, barred := adviceList{title: "Not ranked, because something is not known"}, adviceList{title: "Ruled out by the requirements"}
	var names nameGroups
	var commands []string
	name := adviceNames(a)
	for _, x := range a.Apart {
		for i := 0; i < len(x.Lacks); {
			l := x.Lacks[i]
			s := words.Sentence(words.Clean(l.Reason))
			// Metrics of one workload lack for one reason.
			var metrics []string
			for ; i < len(x.Lacks) && x.Lacks[i].Workload == l.Workload && x.Lacks[i].Reason == l.Reason; i++ {
				metrics = append(metrics, words.Clean(x.Lacks[i].Metric))
			}
			if l.Workload != "" {
				s = strings.Join(metrics, ", ") + " of " + words.Clean(l.Workload) + ": " + s
			}
			m := marks{mark: "?", text: s}
			if strings.HasPrefix(l.Command, "plimsoll run ") {
				commands = append(commands, words.Clean(l.Command))
			} else {
				m.advice = words.Clean(l.Command)
			}
			names.add(m, name(x.Env))
		}
	}
	if apart.items, names = names.items(), (nameGroups{}); len(apart.items) > 0 {
		for _, c := range advise.Together(commands) {
			apart.items = append(apart.items, document.Item{Mark: document.Do, Tone: document.Dim, Text: document.Line{{Text: c, Style: document.Code}}})
		}
	}
	for _, x := range a.Refused {
		for _, r := range x.Require {
			names.add(marks{mark: stateMark[r.State], text: stateLead[r.State] + answerText(r)}, name(x.Env))
		}
	}
	barred.items = names.items()
	return []adviceList{apart, barred}
}

// marks is an item of a list before it is known whose it is.
type marks struct{ mark, text, advice string }

// nameGroups puts the names before what is the same of all of them.
type nameGroups struct {
	analyze.Grouped[marks, string]
}

func (g *nameGroups) add(m marks, name string) {
	if !slices.Contains(g.Of(m), name) {
		g.Add(m, name)
	}
}

func (g *nameGroups) items() []document.Item {
	var out []document.Item
	for m, names := range g.All() {
		text := strings.Join(names, ", ") + ": " + m.text
		out = append(out, document.Item{Mark: m.mark, Text: document.Say(text), Advice: document.Advice{Text: m.advice, Command: true}})
	}
	return out
}

// adviceSensitivity says how far the first place hangs on the weights.
func adviceSensitivity(a *advise.Advice) adviceList {
	l := adviceList{title: "With other weights"}
	s := a.Sensitivity
	if s == nil {
		return l
	}
	name := adviceNames(a)
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
			text += fmt.Sprintf("; %s %.3g %s comes first", side, x.At, name(x.Env))
		}
		text = cmp.Or(text, "; no other weight of it alone changes the first place")
		l.items = append(l.items, document.Item{Text: document.Say(fmt.Sprintf("%s, weight %.3g%s.", criterionName(a, i), c.Weight, text))})
	}
	var chances []string
	for _, c := range s.First {
		if c.Share > 0 {
			chances = append(chances, fmt.Sprintf("%s %.3g %%", name(c.Env), 100*c.Share))
		}
	}
	l.items = append(l.items, document.Item{Text: document.Say(fmt.Sprintf("With all weights at random, two thirds of them between half and double (%d draws), the first places are, by the estimates as they stand: %s.", s.Draws, strings.Join(chances, ", ")))})
	return l
}
