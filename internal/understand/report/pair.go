package report

import (
	"io"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
)

// pairSchema is the version of Pair as JSON.
const pairSchema = 1

// Pair is what two builds of a program, called old and new, come to by one metric of
// one workload.
type Pair struct {
	Schema   int               `json:"schema"`
	Program  string            `json:"program"`
	Workload string            `json:"workload"`
	Metric   string            `json:"metric"`
	Outcome  compare.Direction `json:"outcome"` // for the new one
	// Verdict says it in one line.
	Verdict string `json:"verdict"`
	// Ratio is the new one's value over the old one's, with the interval of Level by
	// which the outcome was found; nil where there is none.
	Ratio *sample.Estimate `json:"ratio,omitempty"`
	Level float64          `json:"level"`
	// Finds is the worsening, as a fraction, that as many blocks of this scatter find
	// in nine of ten runs.
	Finds *float64 `json:"finds,omitempty"`
	// Changes are all that was asked about, with the gate.
	Changes *compare.Changes `json:"changes"`
}

// PairOf judges two builds by the first of these metrics; the others are told beside
// it. nil: neither has a value of it.
func PairOf(program string, c *compare.Changes, metrics []string) *Pair {
	c.Only(metrics)
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Metric.ID == metrics[0] {
			p := &Pair{Schema: pairSchema, Program: program, Workload: ch.Workload, Metric: ch.Metric.ID, Changes: c}
			p.judge(ch)
			p.Verdict = p.sentence(ch)
			return p
		}
	}
	return nil
}

// judge takes the verdict of the comparison. Where the run could have ended at
// several looks it must hold at their level too.
func (p *Pair) judge(ch *compare.Change) {
	p.Outcome, p.Ratio, p.Level = ch.Verdict, ch.Ratio, 1-sample.Alpha
	if ch.Missing != "" || p.Outcome == "" {
		p.Outcome = compare.Unclear
	}
	if g := ch.Gate; g == nil {
		p.Finds = gate.Finds(ch.Sample, p.Changes.Delta, 1, p.Changes.Tested)
	} else if p.Finds = g.Finds; g.Ratio != nil {
		p.Ratio, p.Level = g.Ratio, p.Changes.Gate.Level
		center, in, _, ok := ch.Sample.Estimate(p.Level)
		if v, _ := analyze.VerdictOf(center, in, ch.Sample.Blocks(), p.Changes.Delta); !ok || v == analyze.CannotTell {
			p.Outcome = compare.Unclear
		}
	}
}

// faster says whether less of a metric is more speed.
func faster(m record.Metric) bool { return m.Unit == "ns" && m.Better != record.HigherIsBetter }

// Pairs are two builds of one program.
var Pairs = kindOf("two builds", pairDocument,
	format[*Pair]{"json", asJSON[*Pair]},
	format[*Pair]{"junit", func(w io.Writer, p *Pair, o Options) error { return changesJUnit(w, p.Changes, o) }},
	format[*Pair]{"github", func(w io.Writer, p *Pair, o Options) error { return changesGitHub(w, p.Changes, o) }},
)

// pairDocument has the verdict where one looks first: at the end of a terminal's
// output, at the beginning of a page.
func pairDocument(d *document.Document, p *Pair, o Options) {
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Line{{Text: p.Verdict, Style: document.Strong}}})
	}
	changesDocument(d, p.Changes, o)
	if d.Medium == document.Text {
		d.Gap(document.Text)
		d.Led("", p.Verdict, document.Head)
	}
}
