package view_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

func build(tb testing.TB, r *record.Reader, o view.Options) *view.Data {
	tb.Helper()
	d, err := view.Build(r, o)
	require.NoError(tb, err)
	return d
}

func made(tb testing.TB, s viewtest.Spec) *record.Reader {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "run")
	require.NoError(tb, s.Write(dir))
	return open(tb, dir)
}

func open(tb testing.TB, dir string) *record.Reader {
	tb.Helper()
	r, err := record.Open(dir)
	require.NoError(tb, err)
	return r
}

func encode(tb testing.TB, d *view.Data) []byte {
	tb.Helper()
	out, err := json.Marshal(d)
	require.NoError(tb, err)
	return out
}

func TestGolden(t *testing.T) {
	spec := recordtest.Typical()
	spec.Blocks, spec.PerBlock = 7, 1
	spec.Envs = []recordtest.Env{spec.Envs[1], spec.Envs[2], spec.Envs[6], spec.Envs[7], spec.Envs[10], spec.Envs[11]}
	var out bytes.Buffer
	require.NoError(t, json.Indent(&out, encode(t, build(t, spec.Open(t), view.Options{})), "", " "))
	out.WriteByte('\n')
	golden.Check(t, filepath.Join("testdata", "typical.json"), out.String())
}

// The numbers of a page are those of the other reports.
func TestSameAsAnalyze(t *testing.T) {
	for name, r := range map[string]*record.Reader{
		"typical": recordtest.Typical().Open(t), "suite": recordtest.Suite().Open(t), "made": made(t, viewtest.Small),
	} {
		res, err := evaluate.Run(r, evaluate.Options{})
		require.NoError(t, err)
		d := build(t, r, view.Options{})
		for w := range res.Workloads {
			in, out := &res.Workloads[w], &d.Works[w]
			shown := 0
			for i := range in.Tables {
				a := &in.Tables[i]
				b := table(out, a.Metric.ID)
				if b == nil {
					if len(a.Ranking) > 0 {
						t.Errorf("%s: %s is left out", name, a.Metric.ID)
					}
					continue
				}
				shown++
				sameTable(t, name, d, a, b)
			}
			if shown != len(out.Tables) {
				t.Errorf("%s: %d tables of %s, not %d", name, len(out.Tables), in.ID, shown)
			}
		}
	}
}

func sameTable(t *testing.T, name string, d *view.Data, a *analyze.Table, b *view.Table) {
	t.Helper()
	for k, env := range a.Ranking {
		if d.Envs[b.Ranking[k]].ID != env {
			t.Errorf("%s, %s: the ranking differs", name, a.Metric.ID)
		}
	}
	for e := range a.Cells {
		c := &a.Cells[e]
		if b.N[e] != c.N || b.Blocks[e] != c.Blocks || b.Missing[e] != c.Missing || b.Group[e] != c.Group {
			t.Errorf("%s, %s of %s: another cell", name, a.Metric.ID, c.Env)
		}
		if c.Median == nil {
			if b.Median[e] != nil || len(b.Dist[e].Values)+len(b.Dist[e].Quantiles) > 0 {
				t.Errorf("%s, %s of %s: a value of what has none", name, a.Metric.ID, c.Env)
			}
			continue
		}
		near(t, &c.Median.Value, b.Median[e])
		near(t, c.Median.Lo, b.Lo[e])
		near(t, c.Median.Hi, b.Hi[e])
		near(t, c.Min, &b.Dist[e].Quantiles[0])
		near(t, &c.Median.Value, &b.Dist[e].Quantiles[12])
		near(t, c.Max, &b.Dist[e].Quantiles[len(view.Levels)-1])
		for _, g := range b.Against {
			if q := c.Ratio(g.Baseline); q != nil && q.Missing == "" {
				near(t, &q.Value, g.Ratio[e])
				near(t, q.Lo, g.Lo[e])
			}
		}
	}
}

func near(t *testing.T, want, got *float64) {
	t.Helper()
	switch {
	case want == nil && got == nil:
	case want == nil || got == nil:
		t.Errorf("%v and %v", want, got)
	case *got-*want > 1e-6*max(*want, -*want) || *want-*got > 1e-6*max(*want, -*want):
		t.Errorf("%v, not %v", *got, *want)
	}
}

func table(w *view.Work, metric string) *view.Table {
	for i := range w.Tables {
		if w.Tables[i].Metric.ID == metric {
			return &w.Tables[i]
		}
	}
	return nil
}

// check holds what a page relies on.
func check(t *testing.T, d *view.Data) {
	t.Helper()
	if n := len(d.Verdict); n < 1 || n > 5 {
		t.Errorf("%d sentences", n)
	}
	n := len(d.Trials.Seq)
	for _, other := range []int{len(d.Trials.Block), len(d.Trials.Env), len(d.Trials.Work), len(d.Trials.At), len(d.Trials.Class), len(d.Trials.Text)} {
		if other != n {
			t.Errorf("columns of %d and %d trials", n, other)
		}
	}
	names := map[string]bool{}
	for _, e := range d.Envs {
		if names[e.Name] || e.Name == "" {
			t.Errorf("two environments are named %q", e.Name)
		}
		names[e.Name] = true
	}
	for i := range d.Works {
		w := &d.Works[i]
		for k := range w.Tables {
			checkTable(t, d, &w.Tables[k])
		}
		if p := w.Phases; p != nil {
			for e := range d.Envs {
				if len(p.Medians[e]) != len(p.Steps) {
					t.Errorf("%d steps, %d medians", len(p.Steps), len(p.Medians[e]))
				}
			}
		}
		for _, c := range w.Curves {
			if len(c.T) != len(c.V) || len(c.T) > 300 || c.Lo != nil && (len(c.Lo) != len(c.T) || len(c.Hi) != len(c.T)) {
				t.Errorf("curve %s: %d times, %d values, %d and %d quartiles", c.Column, len(c.T), len(c.V), len(c.Lo), len(c.Hi))
			}
		}
	}
	text := encode(t, d)
	if !utf8.Valid(text) || bytes.Contains(text, []byte("null,null,null,null,null,null,null,null,null")) && len(d.Envs) == 0 {
		t.Error("the JSON is no text")
	}
	var back view.Data
	if err := json.Unmarshal(text, &back); err != nil {
		t.Error(err)
	}
	if again := encode(t, &back); !bytes.Equal(text, again) {
		t.Error("the data do not survive JSON")
	}
}

func checkTable(t *testing.T, d *view.Data, table *view.Table) {
	t.Helper()
	envs := len(d.Envs)
	for _, n := range []int{len(table.N), len(table.Blocks), len(table.Median), len(table.Lo), len(table.Hi), len(table.P95), len(table.Group), len(table.Missing), len(table.Dist)} {
		if n != envs {
			t.Errorf("%s: %d cells of %d environments", table.Metric.ID, n, envs)
		}
	}
	for e, dist := range table.Dist {
		if q := dist.Quantiles; len(q) != 0 && len(q) != len(view.Levels) {
			t.Errorf("%d quantiles", len(q))
		}
		for i := 1; i < len(dist.Quantiles); i++ {
			if dist.Quantiles[i] < dist.Quantiles[i-1] {
				t.Errorf("%s: quantiles fall: %v", table.Metric.ID, dist.Quantiles)
			}
		}
		if len(dist.Values) != len(dist.Trial) || len(dist.Values) != 0 && len(dist.Values) != table.N[e] {
			t.Errorf("%s: %d values, %d trials, n %d", table.Metric.ID, len(dist.Values), len(dist.Trial), table.N[e])
		}
		for i, at := range dist.Trial {
			if at < 0 || at >= len(d.Trials.Seq) || d.Trials.Env[at] != e || d.Trials.Class[at] != "" || i > 0 && at <= dist.Trial[i-1] {
				t.Fatalf("%s: value %d is of trial %d of environment %d", table.Metric.ID, i, at, e)
			}
		}
	}
}

func TestValuesAreTheTrials(t *testing.T) {
	r := made(t, viewtest.Small)
	d := build(t, r, view.Options{})
	check(t, d)
	if d.Shortened != "" || d.Trials.Of != len(d.Trials.Seq) {
		t.Errorf("a small run is shortened: %s", d.Shortened)
	}
	metric, _ := record.MetricByID("startup")
	want := map[int]float64{}
	for trial, err := range r.Trials() {
		require.NoError(t, err)
		if v, ok := metric.Value(trial); ok && trial.Workload == d.Works[0].ID {
			want[trial.Seq] = v
		}
	}
	n := 0
	for _, dist := range table(&d.Works[0], "startup").Dist {
		for i, v := range dist.Values {
			w := want[d.Trials.Seq[dist.Trial[i]]]
			near(t, &w, &v)
			n++
		}
	}
	if n != len(want) || n == 0 {
		t.Errorf("%d of %d values", n, len(want))
	}
}

func TestTextIsData(t *testing.T) {
	s := viewtest.Small
	s.Hostile, s.Blocks = true, 6
	d := build(t, made(t, s), view.Options{})
	check(t, d)
	if !strings.Contains(d.Envs[3].ID, "<script>") || !strings.Contains(d.Works[0].Title, "<script>") {
		t.Error("text was changed: a page escapes, and not we")
	}
	run := recordtest.Typical().Run()
	run.Workloads[0].Title = "a\xffb"
	run.Environments = run.Environments[:2]
	fail := record.Trial{Env: "host", Workload: "hello", Block: 1, Failure: &record.Failure{Class: "crash", Text: "\xfe" + strings.Repeat("é", 1<<20)}}
	d = build(t, record.InMemory(run, []record.Trial{fail}), view.Options{})
	check(t, d)
	if d.Works[0].Title != "a\uFFFDb" || !utf8.ValidString(d.Trials.Text[0]) || len(d.Trials.Text[0]) > 1000 {
		t.Errorf("%q, %d bytes", d.Works[0].Title, len(d.Trials.Text[0]))
	}
}

func TestUnusualRuns(t *testing.T) {
	typical := recordtest.Typical()
	killed := typical
	killed.Until = 40
	none := typical.Run()
	none.Status = "running"
	huge := made(t, viewtest.Spec{Envs: 3, Workloads: 2, Blocks: 2, Running: true})
	for _, c := range []struct {
		name, says string
		r          *record.Reader
	}{
		{"without a trial", "warming up", record.InMemory(none, nil)},
		{"without anything", "nothing to measure", record.InMemory(&record.Run{Status: "done"}, nil)},
		{"killed", "was interrupted", killed.Open(t)},
		{"going on", "the run is not finished", huge},
		{"torn", "", torn(t)},
		{"imported", "imported", imported()},
		{"extreme", "", extreme()},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := build(t, c.r, view.Options{})
			check(t, d)
			if !strings.Contains(strings.Join(d.Verdict, " "), c.says) {
				t.Errorf("the verdict does not say %q: %q", c.says, d.Verdict)
			}
			if len(d.Trust) == 0 {
				t.Error("nothing is said of trust")
			}
		})
	}
}

// torn is a run that was killed while it wrote a line.
func torn(t *testing.T) *record.Reader {
	s := recordtest.Typical()
	s.Blocks = 6
	dir := s.Write(t)
	path := filepath.Join(dir, record.TrialsFile)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data[:len(data)-20], 0o644))
	return open(t, dir)
}

func imported() *record.Reader {
	metric := record.Metric{ID: "time", Unit: "ns", Better: record.LowerIsBetter, Title: "time"}
	run := &record.Run{Status: "done", Imported: &record.Imported{Format: "hyperfine", Files: []string{"a.json"}},
		Environments: []record.Environment{{ID: "a", Engine: "imported"}, {ID: "b", Engine: "imported"}},
		Workloads:    []record.Workload{{ID: "sleep", Metrics: []record.Metric{metric}}}, Protocol: record.Protocol{Blocks: 8, PerBlock: 1, Order: "sequential"}}
	var trials []record.Trial
	for i := range 16 {
		trials = append(trials, record.Trial{Seq: i, Block: i % 8, Env: run.Environments[i/8].ID, Workload: "sleep",
			Values: map[string]float64{"time": 1e6 * (1 + float64(i/8)) * (1 + 0.01*float64(i%3))}})
	}
	return record.InMemory(run, trials)
}

// extreme has values that are hardly numbers.
func extreme() *record.Reader {
	r := imported()
	var trials []record.Trial
	for t := range r.Trials() {
		trials = append(trials, *t)
	}
	for i := range trials {
		v := 1.7e308
		if i%2 == 0 {
			v = -v
		}
		trials[i].Values = map[string]float64{"time": v}
	}
	return record.InMemory(r.Run(), trials)
}
