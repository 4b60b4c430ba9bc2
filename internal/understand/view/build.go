package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// Options are for Build. The zero value is a good default.
type Options struct {
	// Points bounds how many values are shown one by one; 0 is 20 000. The
	// bounds of all else are fixed, see bounds.go.
	Points int
	// Result is the analysis of the run, where there is one: by evaluate.Run with
	// Levels. It stays as it is. Without one Build analyses the run itself.
	Result *analyze.Result
}

// builder makes Data of one run.
type builder struct {
	r      *record.Reader
	res    *analyze.Result
	points int
	envs   map[string]int
	works  map[string]int
	plans  []plan // by workload
	d      *Data
	traced map[int][]string // the traces of starts that were followed, by environment
	left   []string         // what was left out
}

// Build reads a run, which may still be going on, and gives what a page draws
// of it: twice, once for the analysis unless there is one. Beside what analyze
// holds meanwhile (8 bytes for each trial and metric) it takes 8 bytes for each
// trial and event.
func Build(r *record.Reader, o Options) (*Data, error) {
	res, err := o.analysis(r)
	if err != nil {
		return nil, err
	}
	b := &builder{r: r, res: res, points: o.Points, envs: map[string]int{}, works: map[string]int{}, traced: map[int][]string{}}
	b.points = cmp.Or(b.points, defaultPoints)
	b.d = &Data{
		Schema: Schema, Run: res.Run, Overheads: res.Overhead, Ablations: res.Ablations, Charges: res.Charges, Audit: res.Audit, Papers: papersOf(res), Findings: res.Findings,
		Envs: []Env{}, Works: []Work{}, Verdict: []string{}, Trust: []Trust{},
	}
	b.environments()
	b.plan()
	for w := range res.Workloads {
		b.works[res.Workloads[w].ID] = w
		b.d.Works = append(b.d.Works, b.work(w))
	}
	if err := b.trials(); err != nil {
		return nil, err
	}
	if r.Dir() != "" {
		if b.d.Features, err = r.Features(); err != nil {
			return nil, err
		}
	}
	b.d.Facts, b.d.Answer = report.Head(res), report.Say(res)
	if b.d.Verdict = verdict.Of(res, ""); warming(res) {
		b.d.Verdict = []string{"The run is warming up: no trial counts yet."}
	}
	b.d.Trust = trust(res)
	if err := b.courses(); err != nil {
		return nil, err
	}
	b.bound()
	b.d.Shortened = strings.Join(b.left, " ")
	if b.d, err = tidy(b.d); err != nil {
		return nil, fmt.Errorf("making the data of run %s: %w", res.Run.ID, err)
	}
	if slices.Contains(figures.Names(), res.Run.Study) {
		list, err := figures.Of(res.Run.Study)
		if err != nil {
			return nil, err
		}
		b.d.Figures = figure.Of(res, list)
	}
	return b.d, nil
}

// analysis is the result that is given, or one made now.
func (o Options) analysis(r *record.Reader) (*analyze.Result, error) {
	switch res := o.Result; {
	case res == nil:
		return evaluate.Run(r, evaluate.Options{Levels: Levels})
	case res.Run.ID != r.Run().ID:
		return nil, fmt.Errorf("drawing run %s: the analysis is of run %s", r.Run().ID, res.Run.ID)
	case !slices.Equal(res.Levels, Levels):
		return nil, fmt.Errorf("drawing run %s: its analysis lacks the quantiles of view.Levels", res.Run.ID)
	default:
		return res, nil
	}
}

// environments names them. Two long names may lose what tells them apart: they
// are then shown whole.
func (b *builder) environments() {
	names := words.Names(b.res.Environments)
	for i, e := range b.res.Environments {
		b.envs[e.ID] = i
		b.d.Envs = append(b.d.Envs, Env{Environment: e, Name: names[e.ID], Group: e.Engine})
	}
}

// leave notes what was left out.
func (b *builder) leave(format string, args ...any) {
	b.left = append(b.left, fmt.Sprintf(format, args...))
}

// papersOf are the published tables, with those of their ratios that have one of
// ours beside them: of a data set there are thousands that have not.
func papersOf(res *analyze.Result) []analyze.PaperTable {
	out := slices.Clone(res.Papers)
	for i := range out {
		out[i].Ratios = slices.DeleteFunc(slices.Clone(out[i].Ratios), func(r analyze.PaperRatio) bool { return r.Here == nil })
	}
	return out
}
