package analyze

import (
	"fmt"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"slices"
	"strings"
	"testing"
)

// opener is a synthetic run.
type opener interface {
	Open(tb testing.TB) *record.Reader
}

func analyze(t testing.TB, s opener) *Result {
	t.Helper()
	res, err := Run(s.Open(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func cell(t *testing.T, r *Result, metric, env string) *Cell {
	t.Helper()
	c := r.Workloads[0].Table(metric).Cell(env)
	if c == nil {
		t.Fatalf("no cell %s of %s", metric, env)
	}
	return c
}

func has(res *Result, code, env, metric string) bool {
	for _, r := range res.Remarks {
		if r.Code == code && (env == "" || r.Env == env) && (metric == "" || r.Metric == metric) {
			return true
		}
	}
	return false
}

func codes(res *Result) string {
	var b strings.Builder
	for _, r := range res.Remarks {
		fmt.Fprintf(&b, "%s/%s/%s ", r.Code, r.Env, r.Metric)
	}
	return b.String()
}

// session is one run of a small study on a machine that is faster or slower
// that day by the factor speed.
func session(seed uint64, speed float64, change func(*recordtest.Spec)) recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = slices.Clone(s.Envs)
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[2], s.Envs[4], s.Envs[5], s.Envs[9]} // native, floor, crun, runc, podman
	s.Seed, s.Blocks, s.PerBlock, s.StealEvery = seed, 20, 1, 0
	if change != nil {
		change(&s)
	}
	for i := range s.Envs {
		s.Envs[i].StartUp = scaled(s.Envs[i].StartUp, speed)
	}
	return s
}

func scaled[T ~int64](v T, by float64) T { return T(float64(v) * by) }

func changed(t testing.TB, a, b recordtest.Spec, o CompareOptions) *Changes {
	t.Helper()
	c, err := Between(analyze(t, a), analyze(t, b), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(c *Changes, metric, env string) *Change {
	for i := range c.Cells {
		if c.Cells[i].Metric.ID == metric && c.Cells[i].Env == env {
			return &c.Cells[i]
		}
	}
	return nil
}

func left(l record.Look) map[string]bool {
	out := map[string]bool{}
	for _, c := range l.Cells {
		if c.Left {
			out[c.Env] = true
		}
	}
	return out
}
