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
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
)

// static is what the page says without its script.
type static struct {
	Facts    []report.Named
	Trust    []trust
	Lists    []listing
	Verdict  []string
	Picture  template.URL
	Rankings []ranking
	Repeat   string
}

// maxRankings bounds the tables that stand in the file beside the data.
const maxRankings = 12

type trust struct{ Level, Mark, Title, Text string }

// listing is a table that is folded away.
type listing struct {
	ID, Title string
	Head      []string
	Rows      [][]string
}

// ranking is one metric of one workload.
type ranking struct {
	Title, What string
	Open        bool
	Head        []cell
	Rows        [][]cell
}

type cell struct {
	Text string
	Num  bool
	Head bool
	Span int
}

var trustMarks = map[string]string{"good": "✓", "warn": "!", "bad": "✗"}

func newStatic(d *view.Data) (*static, error) {
	s := &static{Facts: report.Head(d.Run, len(d.Envs)), Repeat: report.Clean(d.Run.Repeat)}
	for _, t := range d.Trust {
		mark, ok := trustMarks[t.Level]
		if !ok {
			return nil, fmt.Errorf("trust has the level %q: expected good, warn or bad", t.Level)
		}
		s.Trust = append(s.Trust, trust{t.Level, mark, report.Clean(t.Title), report.Clean(t.Text)})
	}
	for _, v := range d.Verdict {
		s.Verdict = append(s.Verdict, report.Prose(v))
	}
	s.list("failures", "Failures", failures(d), "environment", "workload", "class", "failed", "first reason")
	s.list("excluded", "Not measured", report.ExcludedRows(d.Excluded), "environment", "reason", "what would help")
	s.list("remarks", "Remarks", report.RemarkRows(d.Remarks), "level", "of", "remark", "advice")
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
		s.Picture, err = picture(d)
	}
	return s, err
}

func (s *static) list(id, title string, rows [][]string, head ...string) {
	if len(rows) > 0 {
		s.Lists = append(s.Lists, listing{id, fmt.Sprintf("%s (%d)", title, len(rows)), head, rows})
	}
}

// failures has a row for each class of each cell.
func failures(d *view.Data) [][]string {
	var out [][]string
	for i := range d.Works {
		w := &d.Works[i]
		for _, c := range w.Counts {
			for _, f := range c.Classes {
				out = append(out, []string{nameOf(d, c.Env), w.Label(), report.Clean(string(f.Class)), fmt.Sprintf("%d of %d", f.N, c.Trials), report.Clean(f.Text)})
			}
		}
	}
	return out
}

func nameOf(d *view.Data, id string) string {
	if i := slices.IndexFunc(d.Envs, func(e view.Env) bool { return e.ID == id }); i >= 0 {
		return d.EnvLabel(i)
	}
	return report.Clean(id)
}

func rankingOf(d *view.Data, w *view.Work) (ranking, bool) {
	t := w.FirstTable()
	if t == nil {
		return ranking{}, false
	}
	unit, by := report.Scale(t.Metric.Unit, values(t.Median))
	r := ranking{Title: w.Label() + ": " + view.MetricLabel(t.Metric), What: what(t.Metric), Head: []cell{{Text: "group"}, {Text: "environment"},
		{Text: "n", Num: true}, {Text: "failed", Num: true}, {Text: "median, " + report.Clean(unit), Num: true}, {Text: "95 % interval", Num: true}}}
	for _, a := range t.Against {
		r.Head = append(r.Head, cell{Text: "× " + report.Clean(a.Baseline), Num: true}, cell{Text: "95 %", Num: true}, cell{Text: "verdict"})
	}
	for _, e := range t.Ranking {
		r.Rows = append(r.Rows, append(lead(d, w, t, e), numbers(d, t, e, by)...))
	}
	for e := range d.Envs {
		if slices.Contains(t.Ranking, e) || view.At(t.Missing, e) == "" || view.At(t.Missing, e) == analyze.NotAsked {
			continue
		}
		r.Rows = append(r.Rows, append(lead(d, w, t, e), cell{Text: report.Clean(view.At(t.Missing, e)), Span: 2 + 3*len(t.Against)}))
	}
	return r, true
}

func what(m record.Metric) string {
	if s := strings.TrimSuffix(report.Clean(m.What), "."); s != "" {
		return s + "; " + view.Better(m)
	}
	return view.Better(m)
}

// lead are a row's first cells: group, name, n, failed.
func lead(d *view.Data, w *view.Work, t *view.Table, e int) []cell {
	failed := ""
	if i := slices.IndexFunc(w.Counts, func(c analyze.Count) bool { return c.Env == d.Envs[e].ID }); i >= 0 {
		failed = strconv.Itoa(w.Counts[i].Failed)
	}
	return []cell{{Text: report.Clean(view.At(t.Group, e))}, {Text: d.EnvLabel(e), Head: true},
		{Text: strconv.Itoa(view.At(t.N, e)), Num: true}, {Text: failed, Num: true}}
}

var verdictWords = map[analyze.Verdict]string{analyze.Differs: "differs", analyze.Equal: "equal", analyze.CannotTell: "cannot tell"}

func numbers(d *view.Data, t *view.Table, e int, by float64) []cell {
	value, interval := number(view.At(t.Median, e), view.At(t.Lo, e), view.At(t.Hi, e), by)
	out := []cell{{Text: value, Num: true}, {Text: interval, Num: true}}
	for _, a := range t.Against {
		if d.Envs[e].Baseline == a.Baseline {
			out = append(out, cell{Text: "1", Num: true}, cell{Num: true}, cell{})
			continue
		}
		value, interval := number(view.At(a.Ratio, e), view.At(a.Lo, e), view.At(a.Hi, e), 1)
		out = append(out, cell{Text: value, Num: true}, cell{Text: interval, Num: true}, cell{Text: verdictWords[view.At(a.Verdict, e)]})
	}
	return out
}

func number(v, lo, hi *float64, by float64) (value, interval string) {
	if v == nil {
		return "", ""
	}
	value, interval = report.Number(sample.Estimate{Value: *v, Lo: lo, Hi: hi}, by)
	return strings.TrimSpace(value), strings.TrimSpace(interval)
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
