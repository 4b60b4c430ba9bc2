package report

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// BisectionSchema is the version of Bisection as JSON.
const BisectionSchema = 1

// Bisection is what the search for a commit came to, or where it stands.
type Bisection struct {
	Schema  int    `json:"schema"`
	Program string `json:"program"`
	// Workload is empty where the size of the program decides.
	Workload string        `json:"workload"`
	Metric   record.Metric `json:"metric"`
	Good     Revision      `json:"good"`
	// Given is the good commit that was asked for, where it does not come before the
	// bad one: Good is where their histories part.
	Given *Revision `json:"given,omitempty"`
	// Commits are those after the good one, the bad one the last: indices below are of
	// this list.
	Commits []Revision        `json:"commits"`
	Outcome bisection.Outcome `json:"outcome"`
	// Verdict says it in one line.
	Verdict string `json:"verdict"`
	// Steps are the measurements, in their order.
	Steps []BisectionStep `json:"steps"`
	// Stat is what the commit that was found changes, files and lines.
	Stat string `json:"stat,omitempty"`
	// Alpha is the chance of a wrong decision on the way.
	Alpha float64 `json:"alpha"`
	// Resume is the command that goes on.
	Resume string `json:"resume,omitempty"`
}

// Revision is a commit.
type Revision struct {
	Hash    string    `json:"hash"`
	Subject string    `json:"subject"`
	Author  string    `json:"author,omitempty"`
	At      time.Time `json:"at"`
}

// Short is the beginning of the hash.
func (r Revision) Short() string { return words.Clean(r.Hash[:min(12, len(r.Hash))]) }

// BisectionStep is one measurement, or why there was none.
type BisectionStep struct {
	Kind    bisection.Kind    `json:"kind"`
	Commit  string            `json:"commit,omitempty"`
	Before  string            `json:"before,omitempty"`
	Finding bisection.Finding `json:"finding"`
	Why     string            `json:"why,omitempty"`
	// Record is the directory of the measurement.
	Record string `json:"record,omitempty"`
}

// Bisections are searches for a commit.
var Bisections = kindOf("a bisection", bisectionDocument, format[*Bisection]{"json", asJSON[*Bisection]})

// Judge puts the outcome into words.
func (b *Bisection) Judge() { b.Verdict = bisectionWords{b}.verdict() }

// Named says that a commit, or a few of which one it is, was found.
func (b *Bisection) Named() bool {
	return b.Outcome.Result == bisection.Found || b.Outcome.Result == bisection.Among
}

// bisectionDocument has the verdict where one looks first, as that of a pair.
func bisectionDocument(d *document.Document, b *Bisection, _ Options) {
	w := bisectionWords{b}
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Line{{Text: b.Verdict, Style: document.Strong}}})
	}
	t := &document.Table{Columns: document.Columns("commit", "against", "is", "change", "blocks", "subject"), Below: "why"}
	for i := range b.Steps {
		t.Rows = append(t.Rows, w.row(&b.Steps[i]))
	}
	if w.bySize() {
		t.Drop(4, 5) // there are no blocks
	}
	d.Add(t)
	d.Legend(w.changes() + " " + w.chance())
	if s := w.parted(); s != "" {
		d.Para(s)
	}
	if s := w.untested(); s != "" {
		d.Para(s)
	}
	if b.Stat != "" {
		d.Heading(2, "What the commit changes")
		d.List(" ", w.stat())
	}
	if d.Medium == document.Text {
		d.Gap(document.Text)
		d.Led("", b.Verdict, document.Head)
	}
}
