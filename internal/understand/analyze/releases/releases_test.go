package releases

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

var names = []string{"1.0", "1.1", "1.2", "1.3", "1.4", "1.5"}

// builds are those of a run, each 1 % larger than the one before, and 1.3 by half more.
func builds(program string) (out []record.Build) {
	size := 1e6
	for _, n := range names {
		size *= 1.01
		if n == "1.3" {
			size *= 1.5
		}
		out = append(out, record.Build{Program: program, Level: n, Version: n + ".9", SHA256: "0" + n, Bytes: int64(size)})
	}
	return out
}

// of evaluates a run of these builds.
func of(t *testing.T, c recordtest.Cells, builds []record.Build, o Options, change func(*analyze.Result)) (*Releases, error) {
	t.Helper()
	from := c.Open(t)
	from.Run().Builds = builds
	res, err := evaluate.Run(from, evaluate.Options{})
	require.NoError(t, err)
	if change != nil {
		change(res)
	}
	return Of(res, from, o)
}

// run has a create that takes a fifth longer from 1.2 on, and a stop that does not.
func run(seed uint64, noise float64, change func(*recordtest.Cells)) recordtest.Cells {
	s := recordtest.Spec{Name: "releases", Seed: seed, Blocks: 30, PerBlock: 1, Shared: 0.1,
		Workloads: []record.Workload{{ID: "hello", Name: "hello"}}}
	for _, n := range names {
		s.Envs = append(s.Envs, recordtest.Environment("oci/crun/build-"+n, "oci", "", map[string]string{"runtime": "crun", "build": n}))
	}
	c := recordtest.Cells{Spec: s, Noise: noise, Value: func(e *record.Environment, _ *record.Workload, metric string) (float64, bool) {
		v, ok := map[string]float64{"create": 10e6, "startup": 25e6, "stop": 5e6}[metric]
		if e.Levels["build"] >= "1.2" && metric != "stop" {
			v += 5e6
		}
		return v, ok
	}}
	if change != nil {
		change(&c)
	}
	return c
}

// TestOf: the step is found at its release and in its part, and no other.
func TestOf(t *testing.T) {
	r, err := of(t, run(1, 0.03, nil), builds("crun"), Options{Metrics: []string{"startup", "stop"}}, nil)
	require.NoError(t, err)
	if r.Program != "crun" || r.Blocks != 30 || len(r.Series) != 4 || r.Series[0].Env != "oci/crun" || r.Series[2].Metric.ID != "client-rss-peak" || r.Series[2].Points[5].Value != 20<<20 || r.Series[3].Metric.ID != "size" || len(r.Series[0].Points) != 6 {
		t.Fatalf("%+v", r)
	}
	if len(r.Steps) != 2 {
		t.Fatalf("%+v", r.Steps)
	}
	s := r.Steps[0]
	if s.Series != 0 || s.Before != 1 || s.After != 2 || math.Abs(s.Ratio.Value-1.2) > 0.02 || s.Ratio.Lo == nil || s.Direction != compare.Worse || s.P > 0.01 || s.Most != "create" || math.Abs(*s.By-5e6) > 1e6 {
		t.Errorf("%+v", s)
	}
	if l := r.Series[0].Levels; len(l) != 2 || l[0].Last != 1 || l[1].First != 2 || math.Abs(l[1].Value-30e6) > 1e6 {
		t.Errorf("%+v", l)
	}
	if s := r.Steps[1]; s.Series != 3 || s.After != 3 || s.Direction != compare.Worse || s.P != 0 || s.Ratio.Lo != nil {
		t.Errorf("%+v", s)
	}
	// A step that is smaller than the threshold is none.
	r, err = of(t, run(1, 0.03, nil), builds("crun"), Options{Metrics: []string{"create", "startup"}, Threshold: 0.3}, nil)
	if err != nil || len(r.Series) != 4 || r.Series[0].Metric.ID != "create" || r.StepAt(0, 2) == nil || r.StepAt(1, 2) != nil {
		t.Errorf("%+v %v", r, err)
	}
}

// TestOfMissing: releases that fail or were not measured stand there with the reason,
// and the steps of the others are found across them.
func TestOfMissing(t *testing.T) {
	c := run(2, 0.03, func(c *recordtest.Cells) {
		c.Fails = func(e *record.Environment, _ *record.Workload, _ int) bool { return e.Levels["build"] == "1.1" }
	})
	c.Envs = append(c.Envs[:4:4], c.Envs[5])
	r, err := of(t, c, builds("crun"), Options{Metrics: []string{"startup"}}, func(res *analyze.Result) {
		res.Excluded = append(res.Excluded, record.Excluded{ID: "oci/crun/build-1.4", Levels: map[string]string{"build": "1.4"}, Reason: "it can't be started here"})
	})
	require.NoError(t, err)
	p := r.Series[0].Points
	if p[1].Estimate != nil || p[1].Missing == "" || p[4].Missing != "it can't be started here" {
		t.Errorf("%+v", p)
	}
	if s := r.StepAt(0, 2); s == nil || s.Before != 0 || len(r.Steps) != 2 {
		t.Errorf("%+v", r.Steps)
	}
}

// TestOfSets: where each release is a set of programs, it is a release of the first.
func TestOfSets(t *testing.T) {
	r, err := of(t, run(2, 0.03, nil), append(builds("crun"), builds("conmon")...), Options{Metrics: []string{"startup"}}, nil)
	require.NoError(t, err)
	if r.Program != "crun" || len(r.Releases) != len(builds("crun")) {
		t.Errorf("%d releases of %s", len(r.Releases), r.Program)
	}
}

// TestOfWrong: what is no run of releases is said to be so.
func TestOfWrong(t *testing.T) {
	mixed := append(builds("crun"), record.Build{Program: "runc", Level: "of-its-own"})
	for _, c := range []struct {
		builds []record.Build
		o      Options
		want   string
	}{
		{nil, Options{}, "fewer than two builds"},
		{mixed, Options{}, "no crun of that name"},
		{builds("crun"), Options{Metrics: []string{"nonesuch"}}, "no build has a value"},
	} {
		if _, err := of(t, run(3, 0.03, nil), c.builds, c.o, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}
