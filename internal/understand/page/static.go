package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// static is what the page says without its script.
type static struct {
	Facts    []report.Named
	Trust    []trust
	Made     []listing // what an engine is made of: the answer, where something was taken away
	Lists    []listing
	Answer   *report.Said
	Works    *document.Table // by their best and worst environments
	Verdict  []string
	Picture  template.URL
	Rankings []ranking
	Drawings []drawing
	Repeat   string
}

// maxRankings bounds the tables that stand in the file beside the data.
const maxRankings = 12

type trust struct{ Level, Mark, Title, Text string }

// listing is a table that is folded away.
type listing struct {
	ID, Title string
	*document.Table
}

// ranking is one metric of one workload.
type ranking struct {
	Title, What string
	Open        bool
	*document.Table
}

var trustMarks = map[string]string{"good": "✓", "warn": "!", "bad": "✗"}

func newStatic(d *view.Data) (*static, error) {
	s := &static{Facts: cleaned(d.Facts), Answer: cleanedAnswer(d.Answer), Repeat: words.Command(d.Run.Repeat)}
	for _, t := range d.Trust {
		mark, ok := trustMarks[t.Level]
		if !ok {
			return nil, fmt.Errorf("trust has the level %q: expected good, warn or bad", t.Level)
		}
		s.Trust = append(s.Trust, trust{t.Level, mark, words.Clean(t.Title), words.Clean(t.Text)})
	}
	if a := d.Answer; a != nil && len(a.Works) > 0 {
		s.Works = worksTable(a.Works)
	}
	s.Verdict = lists.Map(d.Verdict, words.Prose)
	for i, x := range d.Ablations {
		s.Made = listed(s.Made, fmt.Sprintf("static-waterfall-%d", i), "What "+words.Clean(x.Engine)+" is made of", report.WaterfallTable(x))
		s.Made = listed(s.Made, fmt.Sprintf("static-timeline-%d", i), "What the timeline says of "+words.Clean(x.Engine)+"'s mechanisms", report.ObservedTable(x))
	}
	for i, x := range d.Charges {
		s.list(fmt.Sprintf("static-charges-%d", i), "What the kernel charges", report.ChargesTable(x))
	}
	s.list("failures", "Failures", failures(d))
	s.list("excluded", "Not measured", report.ExcludedTable(d.Excluded))
	s.list("remarks", "Remarks", report.RemarkTable(d.Remarks))
	for i := range d.Works {
		if len(s.Rankings) == maxRankings {
			break
		}
		if r, ok := rankingOf(d, &d.Works[i]); ok {
			r.Open = len(s.Rankings) == 0 && len(s.Made) == 0
			s.Rankings = append(s.Rankings, r)
		}
	}
	var err error
	if len(s.Rankings) > 0 {
		if s.Picture, err = picture(d); err != nil {
			return nil, err
		}
	}
	s.Drawings, err = drawings(d)
	return s, err
}

// cleaned are facts as they may be shown.
func cleaned(facts []report.Named) []report.Named {
	return lists.Map(facts, func(f report.Named) report.Named {
		return report.Named{Name: words.Clean(f.Name), Value: words.Clean(f.Value)}
	})
}

// cleanedAnswer is an answer as it may be shown.
func cleanedAnswer(a *report.Said) *report.Said {
	if a == nil {
		return nil
	}
	out := &report.Said{Headline: words.Clean(a.Headline), Legend: words.Clean(a.Legend)}
	for _, l := range a.Lines {
		out.Lines = append(out.Lines, report.SaidLine{Label: words.Clean(l.Label), Text: words.Clean(l.Text), Tone: document.Tone(words.Clean(string(l.Tone)))})
	}
	return out
}

// worksTable has a row for each workload, by its best and its worst environment.
func worksTable(works []report.SaidWork) *document.Table {
	t := &document.Table{Columns: []document.Column{{Title: "workload", Names: true}, {Title: "best"}, number("× best"), {Title: "worst"}}}
	for _, w := range works {
		times := words.Clean(w.Times)
		if times != "" && !w.Apart {
			times += " ~"
		}
		t.Row(words.Clean(w.Workload), words.Clean(w.Best), times, words.Clean(w.Worst))
	}
	return t
}

func (s *static) list(id, title string, t *document.Table) {
	s.Lists = listed(s.Lists, id, title, t)
}

// listed has a table more, where it has rows.
func listed(all []listing, id, title string, t *document.Table) []listing {
	if n := len(t.Rows); n > 0 {
		all = append(all, listing{id, fmt.Sprintf("%s (%d)", title, n), t})
	}
	return all
}

// failures has a row for each class of each cell.
func failures(d *view.Data) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "workload", "class", "failed", "first reason")}
	for i := range d.Works {
		w := &d.Works[i]
		for _, c := range w.Counts {
			for _, f := range c.Classes {
				t.Row(nameOf(d, c.Env), w.Label(), words.Clean(string(f.Class)), fmt.Sprintf("%d of %d", f.N, c.Trials), words.Clean(f.Text))
			}
		}
	}
	return t
}

func nameOf(d *view.Data, id string) string {
	if i := slices.IndexFunc(d.Envs, func(e view.Env) bool { return e.ID == id }); i >= 0 {
		return d.EnvLabel(i)
	}
	return words.Clean(id)
}

func rankingOf(d *view.Data, w *view.Work) (ranking, bool) {
	t := w.FirstTable()
	if t == nil {
		return ranking{}, false
	}
	u := words.UnitFor(t.Metric.Unit, view.Known(t.Median))
	out := &document.Table{Columns: []document.Column{{Title: "environment", Names: true},
		number("median, " + words.Clean(u.Name)), number("95 % interval"), number(words.Times(t.Metric)), number("rank"), number("n"), number("failed")}}
	if lacking(d) {
		out.Columns = slices.Insert(out.Columns, lacksColumn, document.Column{Title: "lacks"})
	}
	for _, a := range t.Against {
		out.Columns = append(out.Columns, number("× "+words.Clean(a.Baseline)), number("95 %"), document.Column{Title: "verdict"})
	}
	for _, e := range t.Ranking {
		out.Row(row(d, w, t, e, u.By)...)
	}
	for e := range d.Envs {
		if slices.Contains(t.Ranking, e) || view.At(t.Missing, e) == "" || view.At(t.Missing, e) == analyze.NotAsked {
			continue
		}
		cells := append(document.Cells(d.EnvLabel(e)), document.Cell{Text: "n/a: " + words.Clean(view.At(t.Missing, e)), Rest: true})
		out.Rows = append(out.Rows, document.Row{Cells: cells})
	}
	return ranking{Title: w.Label() + ": " + view.MetricLabel(t.Metric), What: what(t.Metric), Table: out}, true
}

func number(title string) document.Column { return document.Column{Title: title, Right: true} }

func what(m record.Metric) string {
	if s := strings.TrimSuffix(words.Clean(m.What), "."); s != "" {
		return s + "; " + words.Better(m)
	}
	return words.Better(m)
}

// row is an environment with a value: its name and its median first, since a
// telephone shows no more.
func row(d *view.Data, w *view.Work, t *view.Table, e int, by float64) []string {
	failed := ""
	if i := slices.IndexFunc(w.Counts, func(c analyze.Count) bool { return c.Env == d.Envs[e].ID }); i >= 0 {
		failed = strconv.Itoa(w.Counts[i].Failed)
	}
	out := append([]string{words.Clean(d.Envs[e].ID)}, estimate(view.At(t.Median, e), view.At(t.Lo, e), view.At(t.Hi, e), by)...)
	out = append(out, times(t, e), view.At(t.Places, e).String(), strconv.Itoa(view.At(t.N, e)), failed)
	if lacking(d) {
		lacks := words.Clean(d.Answer.Marks[d.Envs[e].ID].Lacks)
		if d.Envs[e].Baseline != "" {
			lacks = "n/a" // it is no container
		}
		out = slices.Insert(out, lacksColumn, lacks)
	}
	return append(out, ratios(d, t, e)...)
}

// lacksColumn is where the letters of the isolation stand that an environment lacks, if
// one does.
const lacksColumn = 5

func lacking(d *view.Data) bool {
	return d.Answer != nil && slices.ContainsFunc(d.Envs, func(e view.Env) bool { return d.Answer.Marks[e.ID].Lacks != "" })
}

// times is how many times worse than the first one.
func times(t *view.Table, e int) string {
	switch v, p := view.At(t.Times, e), view.At(t.Places, e); {
	case v != nil:
		return words.Factor(*v)
	case p != nil:
		return "1"
	}
	return ""
}

var verdictWords = map[analyze.Verdict]string{analyze.Differs: "differs", analyze.Equal: "equal", analyze.CannotTell: "cannot tell"}

func ratios(d *view.Data, t *view.Table, e int) (out []string) {
	for _, a := range t.Against {
		if d.Envs[e].Baseline == a.Baseline {
			out = append(out, "1", "", "")
			continue
		}
		out = append(out, estimate(view.At(a.Ratio, e), view.At(a.Lo, e), view.At(a.Hi, e), 1)...)
		out = append(out, verdictWords[view.At(a.Verdict, e)])
	}
	return out
}

// estimate is a value and its interval.
func estimate(v, lo, hi *float64, by float64) []string {
	if v == nil {
		return []string{"", ""}
	}
	n := words.NumberOf(sample.Estimate{Value: *v, Lo: lo, Hi: hi}, by, words.Full)
	return []string{n.Value, n.Interval}
}
