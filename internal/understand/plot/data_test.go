package plot

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
)

// hostile is a name as a container might have it.
const hostile = `<script>alert("x")</script>&'` + "\x1b[31m\x00\xff"

// made is a small run, made up: two baselines, three engines, one environment
// that failed, and one whose values are quantiles only.
func made() *view.Data {
	d := &view.Data{Schema: view.Schema}
	d.Run = analyze.RunInfo{
		ID: "made", Study: "made-up", Status: "done", Delta: 0.01, Blocks: 8, Trials: 48, Failed: 8,
		Started: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
		Host:    record.Host{CPU: "Made-up CPU at 2 GHz", CPUs: 4, Kernel: "6.1.0", OS: "Linux"},
	}
	env := func(id, group, baseline string) {
		d.Envs = append(d.Envs, view.Env{Environment: record.Environment{ID: id, Engine: group, Baseline: baseline}, Name: id, Group: group})
	}
	env("native", "native", "native")
	env("floor", "floor", "floor")
	env("docker/runc", "docker", "")
	env("docker/runsc", "docker", "")
	env("podman/with-a-very-long-name/of-many-factors/overlay/crun/pasta", "podman", "")
	env("broken", "lxd", "")
	startup := []float64{1e6, 0.8e6, 230e6, 410.5e6, 120e6, 0}
	w := view.Work{ID: "echo", Title: "Echo", Show: []string{"startup"}, First: "startup"}
	for e := range d.Envs {
		c := analyze.Count{Env: d.Envs[e].ID, Trials: 8}
		if startup[e] == 0 {
			c.Failed = 8
		}
		w.Counts = append(w.Counts, c)
	}
	m, _ := record.MetricByID("startup")
	w.Tables = append(w.Tables, table(d, m, startup))
	d.Works = append(d.Works, w)
	addPhases(d, startup)
	addCurves(d)
	addDensity(d)
	addLoad(d)
	addSweep(d)
	addOverheads(d)
	addWaterfall(d)
	return d
}

// addWaterfall takes an engine apart: a step that is sure, one that is not, one that
// makes it slower, one that is missing.
func addWaterfall(d *view.Data) {
	is := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	left := func(v float64) *ablation.Level {
		return &ablation.Level{Env: "x", Median: &sample.Estimate{Value: v}}
	}
	d.Ablations = append(d.Ablations, &ablation.Waterfall{
		Engine: "docker", Workload: "echo", Metric: record.Metric{ID: "startup", Title: "start-up", Unit: "ns", Better: record.LowerIsBetter, From: record.Request, To: record.Ready},
		Base: ablation.Level{Env: "docker/runc", Median: is(230e6, 8e6)}, Floor: ablation.Level{Env: "floor", Median: is(2e6, 1e5)}, Blocks: 8,
		Steps: []ablation.Step{
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "network", Chain: is(120e6, 9e6), Share: 0.52, After: left(110e6)},
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "seccomp", Chain: is(3e6, 9e6), Share: 0.01, After: left(107e6)},
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "masked-paths", Chain: is(-12e6, 4e6), Share: -0.05, After: left(119e6)},
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "cgroup-namespace", Missing: "on cgroup v1 there is none"},
			{Kind: ablation.Engine, Of: "docker", Mechanism: "oci", Chain: &sample.Estimate{Value: 95e6}, Share: 0.41, After: left(24e6)},
			{Kind: ablation.Last, Of: "oci", Mechanism: "floor", Chain: is(22e6, 1e6), Share: 0.1, After: left(2e6)},
		},
	})
}

func ptr(v float64) *float64 { return &v }

// wave scatters the i-th value of n around 1.
func wave(i int) float64 { return 1 + 0.06*math.Sin(float64(i)*2.4) }

func table(d *view.Data, m record.Metric, medians []float64) view.Table {
	t := view.Table{Metric: m, Test: "signed-rank"}
	a := view.Against{Baseline: "native"}
	for e, v := range medians {
		if v == 0 {
			t.N, t.Blocks = append(t.N, 0), append(t.Blocks, 0)
			t.Median, t.Lo, t.Hi, t.P95 = append(t.Median, nil), append(t.Lo, nil), append(t.Hi, nil), append(t.P95, nil)
			t.Group, t.Missing, t.Dist = append(t.Group, ""), append(t.Missing, "every trial failed: no such runtime"), append(t.Dist, view.Dist{})
			a.Ratio, a.Lo, a.Hi = append(a.Ratio, nil), append(a.Lo, nil), append(a.Hi, nil)
			a.Verdict, a.Needed = append(a.Verdict, ""), append(a.Needed, 0)
			continue
		}
		t.Ranking = append(t.Ranking, e)
		t.N, t.Blocks = append(t.N, 8), append(t.Blocks, 8)
		t.Median, t.Lo, t.Hi, t.P95 = append(t.Median, ptr(v)), append(t.Lo, ptr(v*0.96)), append(t.Hi, ptr(v*1.05)), append(t.P95, ptr(v*1.1))
		t.Group, t.Missing = append(t.Group, string(rune('a'+e))), append(t.Missing, "")
		var x view.Dist
		var values []float64
		for i := range 8 {
			values = append(values, v*wave(i+e))
			x.Trial = append(x.Trial, len(d.Trials.Seq))
			d.Trials.Seq, d.Trials.Block = append(d.Trials.Seq, len(d.Trials.Seq)), append(d.Trials.Block, i)
			d.Trials.Env, d.Trials.Work = append(d.Trials.Env, e), append(d.Trials.Work, 0)
			d.Trials.At = append(d.Trials.At, int64(i*6000+e*900))
			d.Trials.Class, d.Trials.Text = append(d.Trials.Class, ""), append(d.Trials.Text, "")
		}
		sorted := slices.Sorted(slices.Values(values))
		for _, q := range view.Levels {
			x.Quantiles = append(x.Quantiles, sorted[int(math.Round(q*7))])
		}
		if x.Values = values; e == 3 {
			x.Values, x.Trial = nil, nil
		}
		t.Dist = append(t.Dist, x)
		a.Ratio, a.Lo, a.Hi = append(a.Ratio, ptr(v/1e6)), append(a.Lo, ptr(v/1.05e6)), append(a.Hi, ptr(v/0.96e6))
		a.Verdict, a.Needed = append(a.Verdict, []analyze.Verdict{analyze.Equal, analyze.CannotTell, analyze.Differs}[min(e, 2)]), append(a.Needed, 0)
	}
	slices.SortFunc(t.Ranking, func(x, y int) int { return cmp.Compare(*t.Median[x], *t.Median[y]) })
	t.Against = []view.Against{a}
	return t
}

func addPhases(d *view.Data, startup []float64) {
	p := &view.Phases{Steps: []view.Step{
		{Title: "create", From: record.Request, To: record.Created},
		{Title: "start", From: record.Created, To: record.Ready},
		{Title: "execution", From: record.Ready, To: record.Exit},
		{Title: "removal", From: record.Exit, To: record.Removed},
	}}
	for e, v := range startup {
		switch {
		case v == 0:
			p.Medians = append(p.Medians, make([]*float64, 4))
		case e < 2:
			p.Medians = append(p.Medians, []*float64{nil, ptr(v), ptr(2e6), ptr(0.2e6)})
		default:
			p.Medians = append(p.Medians, []*float64{ptr(v * 0.4), ptr(v * 0.6), ptr(2e6), ptr(v * 0.3)})
		}
	}
	d.Works[0].Phases = p
}

func addCurves(d *view.Data) {
	for _, e := range []int{2, 4} {
		c := view.Curve{Env: e, Column: "cpu", Title: "CPU", Part: "daemon", Unit: "", Trials: 8}
		for i := range 20 {
			v := 0.2 + 0.1*math.Cos(float64(i+e))
			c.T, c.V = append(c.T, float64(i)/10), append(c.V, v)
			c.Lo, c.Hi = append(c.Lo, v*0.8), append(c.Hi, v*1.3)
		}
		d.Works[0].Curves = append(d.Works[0].Curves, c)
	}
}

func addDensity(d *view.Data) {
	c := density.Cell{Env: "docker/runc", Ramps: 2, Asked: 20, Reached: 12, Starts: &density.Points{}, Memory: map[string]density.Points{}}
	var mem density.Points
	for n := range 12 {
		c.Starts.N, c.Starts.Y = append(c.Starts.N, float64(n)), append(c.Starts.Y, 2e8*(1+float64(n)/30))
		mem.N, mem.Y = append(mem.N, float64(n)), append(mem.Y, float64(n*9<<20))
	}
	c.Memory["monitor"] = mem
	c.Limits = []record.Limit{{Class: "pids", Text: "the process limit was reached"}}
	d.Works = append(d.Works, view.Work{ID: "density", Title: "Density", Density: []density.Cell{c, {Env: "broken"}}})
}

func addLoad(d *view.Data) {
	q := []load.Quantile{{Name: "p50", Value: 2e8, N: 90}, {Name: "p95", Value: 4e8, N: 90}}
	d.Works = append(d.Works, view.Work{ID: "load", Title: "Load", Load: []load.Cell{
		{Env: "docker/runc", Trials: 3, Arrivals: 90, Done: 88, Failed: 2, Offered: 5, Achieved: 4.9, MaxInFlight: 4, Latency: q},
		{Env: "broken", Trials: 3},
	}})
}

// addSweep has a workload at three sizes; at the largest one environment has no
// value.
func addSweep(d *view.Data) {
	m := record.Metric{ID: "read-time", Unit: "ns", Better: record.LowerIsBetter, Title: "Read time", What: "time to read all"}
	for i, size := range []string{"100kB", "1MB", "10MB"} {
		medians := make([]float64, len(d.Envs))
		for e := range d.Envs[:5] {
			if medians[e] = 1e6 * math.Pow(8, float64(i)) * float64(e+1); e == 2 && i == 2 {
				medians[e] = 0
			}
		}
		d.Works = append(d.Works, view.Work{ID: "read/" + size, Title: "Read", Name: "read", Params: map[string]string{"size": size, "files": "own"},
			First: "read-time", Tables: []view.Table{table(d, m, medians)}})
	}
}

func addOverheads(d *view.Data) {
	o := analyze.Overhead{Baseline: "native"}
	for _, w := range []string{"echo", "cpu"} {
		r := analyze.OverheadRow{Workload: w}
		for i, e := range d.Envs[2:] {
			c := analyze.OverheadCell{Env: e.ID, Verdict: analyze.Differs, Blocks: 8}
			v := []float64{0.996, -0.031, 0.004}
			if i < 3 {
				c.Overhead = &sample.Estimate{Value: v[i], Lo: ptr(v[i] - 0.01), Hi: ptr(v[i] + 0.003)}
			} else {
				c.Missing = "every trial failed"
			}
			r.Cells = append(r.Cells, c)
		}
		o.Rows = append(o.Rows, r)
	}
	for _, e := range d.Envs[2:] {
		o.Environments = append(o.Environments, e.ID)
	}
	o.Suites = []analyze.Suite{{Name: analyze.AllRows, Workloads: []string{"echo", "cpu"}, Cells: o.Rows[0].Cells}}
	d.Overheads = []analyze.Overhead{o}
}

// madeHistory has one series that becomes slower at its seventh run.
func madeHistory() *history.Histories {
	m, _ := record.MetricByID("startup")
	h := history.History{Study: "made-up", Machine: "made-up machine"}
	s := history.Series{Workload: "echo", Metric: m, Env: "docker", Engine: "docker", Against: "native"}
	lost := history.Series{Workload: "echo", Metric: m, Env: "gone", Engine: "lxd"}
	for i := range 12 {
		h.Runs = append(h.Runs, history.PastRun{Run: "r", Started: time.Date(2026, 1, 1+7*i, 0, 0, 0, 0, time.UTC)})
		v := 200 * wave(i)
		if i >= 7 {
			v *= 1.4
		}
		s.Points = append(s.Points, history.Point{Estimate: &sample.Estimate{Value: v, Lo: ptr(v * 0.97), Hi: ptr(v * 1.02)}})
		lost.Points = append(lost.Points, history.Point{Missing: "it did not run"})
	}
	s.Regimes = []history.Regime{
		{First: 0, Last: 6, Runs: 7, Level: sample.Estimate{Value: 200, Lo: ptr(190), Hi: ptr(211)}},
		{First: 7, Last: 11, Runs: 5, Level: sample.Estimate{Value: 281}},
	}
	h.Series = []history.Series{s, lost}
	h.Changes = []history.Change{{Series: 0, Before: 6, After: 7, Confirmed: true, Ratio: sample.Estimate{Value: 1.4}, Direction: compare.Worse}}
	return &history.Histories{Threshold: 0.05, Alpha: 0.05, Method: "e-divisive", Histories: []history.History{h}}
}
