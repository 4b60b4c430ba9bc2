package report

import (
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// Said is the answer of a result as a terminal's one screen gives it, for a page:
// its lines, and where there are several workloads, each by its best and its worst
// environment.
type Said struct {
	Headline string     `json:"headline"`
	Lines    []SaidLine `json:"lines"`
	Works    []SaidWork `json:"works,omitempty"`
	// Legend says what is marked in a chart of all environments, Marks what in whose row.
	Legend string              `json:"legend,omitempty"`
	Marks  map[string]SaidMark `json:"marks,omitempty"`
}

// SaidLine is a line behind a label, such as Fastest or Beware.
type SaidLine struct {
	Label string        `json:"label"`
	Text  string        `json:"text"`
	Tone  document.Tone `json:"tone,omitempty"`
}

// SaidMark is what an environment's row is marked with: the letters of the isolation that
// it lacks, and what users type for it, as docker run; "" nothing.
type SaidMark struct {
	Lacks string `json:"lacks,omitempty"`
	Typed string `json:"typed,omitempty"`
}

// SaidWork is a workload: its best and its worst environment with their medians, and
// how many times worse the worst is; "" where there is none. Apart: the two are told
// apart.
type SaidWork struct {
	Workload string `json:"workload"`
	Best     string `json:"best"`
	Worst    string `json:"worst,omitempty"`
	Times    string `json:"times,omitempty"`
	Apart    bool   `json:"apart"`
}

// saidWidth is how many characters a line of a page's answer has at most.
const saidWidth = 120

// Say gives the answer of a result, nil where a screen has none of it.
func Say(res *analyze.Result) *Said {
	if !hasScreen(res) {
		return nil
	}
	answers := verdict.Answers(res, "")
	if len(answers) == 0 {
		return nil
	}
	s := screen{Document: &document.Document{Width: saidWidth}, res: res, answers: answers, more: "below", audit: "see Equal terms", whole: true}
	out := &Said{Lines: []SaidLine{}}
	if len(answers) == 1 {
		s.answer(&answers[0])
	} else {
		all := s.overall()
		s.failedChecks()
		s.doubts(nil)
		s.checks()
		for _, l := range all {
			w := SaidWork{Workload: words.Clean(l.Work.ID), Best: s.with(l.Answer, l.All[0], false), Apart: l.apart}
			if l.worst != l.All[0] {
				w.Worst = s.with(l.Answer, l.worst, false)
				if l.by.Value > 0 {
					w.Times = words.Factor(l.by.Value)
				}
			}
			out.Works = append(out.Works, w)
		}
	}
	s.notRun()
	out.Legend, out.Marks = s.pageLegend(), s.marks()
	for _, b := range s.Blocks {
		p, ok := b.(document.Para)
		switch label := strings.TrimSpace(p.Lead); {
		case !ok:
		case p.Lead == "":
			out.Headline = p.Text.String()
		case label == "": // it goes on with the line before
			last := &out.Lines[len(out.Lines)-1]
			last.Text += " · " + p.Text.String()
		default:
			out.Lines = append(out.Lines, SaidLine{label, p.Text.String(), p.Tone})
		}
	}
	return out
}

// marks are those of the environments that have one.
func (s *screen) marks() map[string]SaidMark {
	out := map[string]SaidMark{}
	some := slices.ContainsFunc(s.res.Environments, func(e record.Environment) bool {
		parts, _ := s.partsLacking(e.ID)
		return len(parts) > 0
	})
	for _, e := range s.res.Environments {
		var m SaidMark
		if some && e.Baseline == "" {
			m.Lacks = s.lacks(e.ID)
		}
		for _, k := range known {
			if t := s.typed(e.ID); e.Engine == k.engine && t != words.Clean(e.ID) {
				m.Typed = t
			}
		}
		if m != (SaidMark{}) {
			out[e.ID] = m
		}
	}
	return out
}
