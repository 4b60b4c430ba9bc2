package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

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
	Lists    []listing
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
	s := &static{Facts: report.Head(d.Run, len(d.Envs)), Repeat: words.Clean(d.Run.Repeat)}
	for _, t := range d.Trust {
		mark, ok := trustMarks[t.Level]
		if !ok {
			return nil, fmt.Errorf("trust has the level %q: expected good, warn or bad", t.Level)
		}
		s.Trust = append(s.Trust, trust{t.Level, mark, words.Clean(t.Title), words.Clean(t.Text)})
	}
	for _, v := range d.Verdict {
		s.Verdict = append(s.Verdict, words.Prose(v))
	}
	for i, x := range d.Ablations {
		s.list(fmt.Sprintf("static-waterfall-%d", i), "What "+words.Clean(x.Engine)+" is made of", report.WaterfallTable(x))
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
			r.Open = len(s.Rankings) == 0
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

func (s *static) list(id, title string, t *document.Table) {
	if n := len(t.Rows); n > 0 {
		s.Lists = append(s.Lists, listing{id, fmt.Sprintf("%s (%d)", title, n), t})
	}
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
	u := words.UnitFor(t.Metric.Unit, values(t.Median))
	out := &document.Table{Columns: []document.Column{{Title: "group"}, {Title: "environment", Names: true}, number("n"), number("failed"),
		number("median, " + words.Clean(u.Name)), number("95 % interval")}}
	for _, a := range t.Against {
		out.Columns = append(out.Columns, number("× "+words.Clean(a.Baseline)), number("95 %"), document.Column{Title: "verdict"})
	}
	for _, e := range t.Ranking {
		out.Row(append(lead(d, w, t, e), numbers(d, t, e, u.By)...)...)
	}
	for e := range d.Envs {
		if slices.Contains(t.Ranking, e) || view.At(t.Missing, e) == "" || view.At(t.Missing, e) == analyze.NotAsked {
			continue
		}
		cells := append(document.Cells(lead(d, w, t, e)...), document.Cell{Text: words.Clean(view.At(t.Missing, e)), Rest: true})
		out.Rows = append(out.Rows, document.Row{Cells: cells})
	}
	return ranking{Title: w.Label() + ": " + view.MetricLabel(t.Metric), What: what(t.Metric), Table: out}, true
}

func number(title string) document.Column { return document.Column{Title: title, Right: true} }

func what(m record.Metric) string {
	if s := strings.TrimSuffix(words.Clean(m.What), "."); s != "" {
		return s + "; " + view.Better(m)
	}
	return view.Better(m)
}

// lead are a row's first cells: group, name, n, failed.
func lead(d *view.Data, w *view.Work, t *view.Table, e int) []string {
	failed := ""
	if i := slices.IndexFunc(w.Counts, func(c analyze.Count) bool { return c.Env == d.Envs[e].ID }); i >= 0 {
		failed = strconv.Itoa(w.Counts[i].Failed)
	}
	return []string{words.Clean(view.At(t.Group, e)), d.EnvLabel(e), strconv.Itoa(view.At(t.N, e)), failed}
}

var verdictWords = map[analyze.Verdict]string{analyze.Differs: "differs", analyze.Equal: "equal", analyze.CannotTell: "cannot tell"}

func numbers(d *view.Data, t *view.Table, e int, by float64) []string {
	out := estimate(view.At(t.Median, e), view.At(t.Lo, e), view.At(t.Hi, e), by)
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

func values(column []*float64) []float64 {
	var out []float64
	for _, v := range column {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}
