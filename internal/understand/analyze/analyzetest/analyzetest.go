// Package analyzetest evaluates synthetic runs for the tests of the packages that
// analyze.
package analyzetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

// Opener is a synthetic run.
type Opener interface {
	Open(tb testing.TB) *record.Reader
}

// Run evaluates a run.
func Run(t testing.TB, s Opener) *analyze.Result {
	t.Helper()
	res, err := evaluate.Run(s.Open(t), evaluate.Options{})
	require.NoError(t, err)
	return res
}

// Cell is that of a metric of the only workload.
func Cell(t *testing.T, r *analyze.Result, metric, env string) *analyze.Cell {
	t.Helper()
	c := r.Workloads[0].Table(metric).Cell(env)
	if c == nil {
		t.Fatalf("no cell %s of %s", metric, env)
	}
	return c
}

// Has says whether there is a remark of a code, on an environment and a metric
// where these are named.
func Has(res *analyze.Result, code, env, metric string) bool {
	for _, r := range res.Remarks {
		if r.Code == code && (env == "" || r.Env == env) && (metric == "" || r.Metric == metric) {
			return true
		}
	}
	return false
}

// Codes lists the remarks, for what a test says of them.
func Codes(res *analyze.Result) string {
	var b strings.Builder
	for _, r := range res.Remarks {
		fmt.Fprintf(&b, "%s/%s/%s ", r.Code, r.Env, r.Metric)
	}
	return b.String()
}

// Session is one run of a small study on a machine that is faster or slower
// that day by the factor speed.
func Session(seed uint64, speed float64, change func(*recordtest.Spec)) recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = slices.Clone(s.Envs)
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[2], s.Envs[4], s.Envs[5], s.Envs[9]} // native, floor, crun, runc, podman
	for i := range s.Envs {
		// Of one engine, so that the others are too few to tell how fast the machine was.
		if e := &s.Envs[i]; e.Engine == "oci" {
			e.Engine = "manager"
		}
	}
	s.Seed, s.Blocks, s.PerBlock, s.StealEvery = seed, 20, 1, 0
	if change != nil {
		change(&s)
	}
	for i := range s.Envs {
		s.Envs[i].StartUp = Scaled(s.Envs[i].StartUp, speed)
	}
	return s
}

// Scaled multiplies a time.
func Scaled[T ~int64](v T, by float64) T { return T(float64(v) * by) }

// Changed compares two runs.
func Changed(t testing.TB, a, b recordtest.Spec, o compare.Options) *compare.Changes {
	t.Helper()
	c, err := compare.Between(Run(t, a), Run(t, b), o)
	require.NoError(t, err)
	return c
}

// Find is the cell of a metric and an environment, or nil.
func Find(c *compare.Changes, metric, env string) *compare.Change {
	return analyze.Find(c.Cells, func(x *compare.Change) bool { return x.Metric.ID == metric && x.Env == env })
}

// Left are the environments that a look lets leave.
func Left(l record.Look) map[string]bool {
	out := map[string]bool{}
	for _, c := range l.Cells {
		if c.Left {
			out[c.Env] = true
		}
	}
	return out
}
