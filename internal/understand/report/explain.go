package report

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/words"
)

// Explanation is where a start's time went.
var Explanation = kindOf("an explanation", explanationDocument,
	format[*timeline.Explanation]{"json", asJSON[*timeline.Explanation]},
	format[*timeline.Explanation]{"folded", func(w io.Writer, x *timeline.Explanation, _ Options) error {
		return timeline.WriteFolded(w, x.Tree)
	}},
	format[*timeline.Explanation]{"chrome", func(w io.Writer, x *timeline.Explanation, _ Options) error {
		if x.Median == nil {
			return errors.New("no start was followed, so there is no course to draw: " + x.Lacks)
		}
		return timeline.WriteChrome(w, x.Median)
	}},
)

// Comparison is where the time of two starts differs.
var Comparison = kindOf("a comparison of two explanations", comparisonDocument, format[*timeline.Comparison]{"json", asJSON[*timeline.Comparison]})

func comparisonDocument(d *document.Document, x *timeline.Comparison, _ Options) {
	a, b := words.Clean(x.A.What), words.Clean(x.B.What)
	d.Heading(1, a+" against "+b)
	for _, e := range []*timeline.Explanation{x.A, x.B} {
		s := fmt.Sprintf("%s: %s ms until %s", words.Clean(e.What), about(e.NS), startEnds[e.Until])
		if e.Interval != nil {
			s += fmt.Sprintf(" [%s, %s]", about(e.Interval.Lo), about(e.Interval.Hi))
		}
		d.Para(s + ". " + explained(e))
	}
	if x.Rate != nil {
		addRate(d, x)
	}
	d.Heading(2, "Where they differ")
	t := &document.Table{Columns: []document.Column{{Title: "first,\nms", Right: true, Points: true}, {Title: "second,\nms", Right: true, Points: true}, {Title: "more,\nms", Right: true, Points: true}, {Title: "who, and what for"}}}
	addPairs(t, x.Tree, max(x.Tree.A, x.Tree.B), 0)
	d.Add(t)
	d.Legend(fmt.Sprintf("The largest differences first; a line's time contains that of the lines below it. What differs by less than %.0f %% of the longer start is left out.", 100*told))
}

// addRate says what bounds the rate of starts.
func addRate(d *document.Document, x *timeline.Comparison) {
	r := x.Rate
	d.Para(fmt.Sprintf("%.3g a second one after the other, %.3g a second with %d at once; each of them takes %.2g times as long.", r.Alone, r.Together, r.AtOnce, x.B.NS/max(x.A.NS, 1)))
	more := max(r.Grown(), 1)
	t := &document.Table{Columns: []document.Column{{Title: "alone,\nms", Right: true, Points: true}, {Title: fmt.Sprintf("%d at once,\nms", r.AtOnce), Right: true, Points: true}, {Title: "of what\nis more", Right: true}, {Title: "what is waited for"}}}
	for _, p := range r.Growth {
		if float64(p.More()) < 2*told*float64(more) || len(t.Rows) == mostGrowth {
			break
		}
		t.Told(fixed(p.A), fixed(p.B), fmt.Sprintf("%.0f %%", 100*float64(p.More())/float64(more)), words.Clean(p.Name))
	}
	if len(t.Rows) > 0 {
		d.Heading(2, "What bounds the rate")
		d.Add(t)
		d.Legend("What takes longer for each start when several are made at once, over all programs: the processors, a lock, or something that does one after the other.")
	}
}

// mostGrowth is the most rows that say what bounds a rate.
const mostGrowth = 12

func addPairs(t *document.Table, p *timeline.Pair, whole int64, depth int) {
	t.Told(fixed(p.A), fixed(p.B), fixed(p.More()), strings.Repeat("  ", depth)+words.Clean(p.Name))
	if p.Cause {
		t.Rows[len(t.Rows)-1].Tone = document.Dim
	}
	for _, s := range p.Steps {
		if differs(s, told*float64(whole)) {
			addPairs(t, s, whole, depth+1)
		}
	}
}

// differs says whether a step, or one below it, differs by so much.
func differs(p *timeline.Pair, least float64) bool {
	return math.Abs(float64(p.More())) >= least || slices.ContainsFunc(p.Steps, func(s *timeline.Pair) bool { return differs(s, least) })
}

// told is the least share of a start that has a line of its own.
const told = timeline.Told

func explanationDocument(d *document.Document, x *timeline.Explanation, _ Options) {
	d.Heading(1, words.Clean(x.What))
	took := fmt.Sprintf("%s ms until %s", about(x.NS), startEnds[x.Until])
	if x.Starts > 1 {
		took += fmt.Sprintf(" (the median of %d starts", x.Starts)
		if x.Interval != nil {
			took += fmt.Sprintf(", 95 %% interval %s to %s", about(x.Interval.Lo), about(x.Interval.Hi))
		}
		took += ")"
	}
	d.Para(took + ". " + explained(x))

	d.Heading(2, "Where the time went")
	t := &document.Table{Columns: []document.Column{{Title: "ms", Right: true, Points: true}, {Title: "%", Right: true}, {Title: "who, and what for"}}}
	if x.Median != nil {
		t.Columns = slices.Insert(t.Columns, 2, shorterColumn)
	}
	addSteps(t, x.Tree, x.Tree.NS, 0)
	d.Add(t)
	d.Legend("Below a program stand those that it waited for, and what its own time went into. Only what the end had to wait for counts: what went on meanwhile costs nothing here.")
	if x.Median == nil {
		return
	}
	d.Legend(shorterWords)

	d.Heading(2, "One after the other")
	s := &document.Table{Columns: []document.Column{{Title: "at, ms", Right: true, Points: true}, {Title: "ms", Right: true, Points: true}, shorterColumn, {Title: "who"}, {Title: "most of it"}}}
	for _, g := range x.Median.Stages(int64(told * float64(x.Median.Span))) {
		s.Told(fixed(g.From), fixed(g.To-g.From), fixed(g.Shorter), words.Clean(g.Program), fmt.Sprintf("%s (%.0f %%)", words.Clean(g.Why), 100*g.Share))
	}
	d.Add(s)
	d.Legend(fmt.Sprintf("The start whose time is the median, of %s ms.", fixed(x.Median.Span)))
	if x.Spans != nil {
		addSpans(d, x)
	}
}

// shorterColumn is by how much less the start would take without a step.
var shorterColumn = document.Column{Title: "shorter,\nms", Right: true, Points: true}

const shorterWords = "Shorter: so much less, at most, the start would take without the step, if all else took as long as it did and waited for the same: less than the step's own time where something else would have ended hardly earlier. Taking it away measures what is saved: plimsoll ablate."

// startEnds say in words what a start is followed to.
var startEnds = map[string]string{"exit": "it has ended", "ready": "its first byte has reached us", "first": "its first instruction", "stopped": "its stop has returned"}

// explained says how far the time is explained, and what the tracing cost.
func explained(x *timeline.Explanation) string {
	if x.Lacks != "" {
		return "What it went into is not known: " + words.Clean(x.Lacks)
	}
	s := fmt.Sprintf("%.0f %% of it has no cause with a name.", 100*float64(x.UnexplainedNS)/float64(max(x.Tree.NS, 1)))
	if how := Tracing(x); how != "" {
		s += " " + how
	}
	return s
}

// Tracing says what following the starts cost them, and what could not be recorded; it
// stands beside every form of an explanation.
func Tracing(x *timeline.Explanation) string {
	var said []string
	if x.Overhead != 0 {
		s := fmt.Sprintf("Tracing makes it %.3f × as long", x.Overhead)
		if x.OverheadInterval != nil {
			s += fmt.Sprintf(" [%.3f, %.3f]", x.OverheadInterval.Lo, x.OverheadInterval.Hi)
		}
		said = append(said, s+".")
	}
	if x.Lost > 0 {
		said = append(said, "The kernel had "+noRoom(x.Lost)+".")
	}
	return strings.Join(said, " ")
}

// noRoom says what a trace lacks.
func noRoom(events int64) string {
	return fmt.Sprintf("no room for %s: what they would have shown is missing", words.Plural(int(events), "event"))
}

func addSteps(t *document.Table, s *timeline.Step, whole int64, depth int) {
	name := words.Clean(s.Name)
	if s.Unexplained {
		name += " (no cause known)"
	}
	shorter := ""
	if s.Shorter != nil {
		shorter = fixed(*s.Shorter)
	}
	addStep(t, s.NS, whole, shorter, depth, name, s.Cause)
	rest, n := int64(0), 0
	for _, b := range s.Steps {
		if float64(b.NS) < told*float64(whole) {
			rest += b.NS
			n++
			continue
		}
		addSteps(t, b, whole, depth+1)
	}
	if n < len(s.Steps) && float64(rest) >= told*float64(whole)/2 {
		addStep(t, rest, whole, "", depth+1, fmt.Sprintf("%d more, each below %.0f %%", n, 100*told), true)
	}
}

// addStep appends a step's row, to a table that may lack the column of what is saved
// without it.
func addStep(t *document.Table, ns, whole int64, shorter string, depth int, name string, dim bool) {
	cells := []string{fixed(ns), fmt.Sprintf("%.0f", 100*float64(ns)/float64(max(whole, 1))), shorter, strings.Repeat("  ", depth) + name}
	if len(t.Columns) < len(cells) {
		cells = slices.Delete(cells, 2, 3)
	}
	t.Told(cells...)
	if dim {
		t.Rows[len(t.Rows)-1].Tone = document.Dim
	}
}

// fixed writes nanoseconds as milliseconds with two decimals: steps are to add up.
func fixed(ns int64) string { return fmt.Sprintf("%.2f", float64(ns)/1e6) }

// about writes nanoseconds as milliseconds with three digits, and all before the point.
func about(ns float64) string {
	if ms := ns / 1e6; ms >= 1000 {
		return strconv.FormatFloat(ms, 'f', 0, 64)
	}
	return strconv.FormatFloat(ns/1e6, 'g', 3, 64)
}
