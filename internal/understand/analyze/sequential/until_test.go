package sequential_test

import (
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/sequential"
)

func TestLooksAt(t *testing.T) {
	var at []int
	for n := range 200 {
		if sequential.LooksAt(n) {
			at = append(at, n)
		}
	}
	if len(at) != 5 || at[0] != 10 || at[1] != 20 || at[2] != 40 || at[3] != 80 || at[4] != 160 {
		t.Errorf("looks after %v", at)
	}
}

// What is known leaves, what is not stays, and the baselines with it; what
// fails always has no ratio to wait for. With the last, all leave.
func TestUntil(t *testing.T) {
	spec := recordtest.Typical()
	spec.PerBlock = 1
	for i := range spec.Envs {
		spec.Envs[i].Sigma = 0.005
		if spec.Envs[i].ID == "podman" {
			spec.Envs[i].Sigma = 0.2
		}
	}
	res := analyzetest.Run(t, spec)
	l := sequential.Until(res, 0.02)
	gone := analyzetest.Left(l)
	if l.Ended || l.Asked != 9 || l.Settled != 7 {
		t.Errorf("%+v", l)
	}
	for _, env := range []string{"native", "floor", "host", "podman", "podman-rootless"} {
		if gone[env] {
			t.Errorf("%s left", env)
		}
	}
	for _, env := range []string{"crun", "runc", "runsc", "docker-api", "docker-cli", "charliecloud-directory", "docker-userns"} {
		if !gone[env] {
			t.Errorf("%s is still in", env)
		}
	}
	for _, c := range l.Cells {
		switch {
		case c.Env == "docker-userns" && (c.HalfWidth != nil || !strings.Contains(c.Why, "every trial failed")),
			c.Env == "runc" && (c.HalfWidth == nil || *c.HalfWidth > 0.02 || c.Against != "native" || c.Metric != "startup"):
			t.Errorf("%+v", c)
		}
	}
	// The next look asks only what is open.
	l.Blocks = 10
	res.Run.Looks = append(res.Run.Looks, l)
	next := sequential.Until(res, 0.02)
	if next.Settled != 7 || len(next.Cells) != 2 || len(analyzetest.Left(next)) != 0 {
		t.Errorf("the second look: %+v", next)
	}
	// However wide it may be: the one that failed once has nine pairs only.
	if wide := sequential.Until(res, 10); wide.Settled != 8 || wide.Ended || analyzetest.Left(wide)["podman-rootless"] {
		t.Errorf("with ± 1000 %%: %+v", wide)
	}
}

// Below ten pairs no interval is narrow enough, and where nothing but baselines
// runs they are what is asked about.
func TestQuestions(t *testing.T) {
	spec := recordtest.Typical()
	spec.Blocks, spec.PerBlock = 9, 1
	if l := sequential.Until(analyzetest.Run(t, spec), 10); l.Settled != 1 { // what always fails
		t.Errorf("after 9 blocks: %+v", l)
	}
	spec.Blocks = 10
	spec.Envs = spec.Envs[:3] // host, native, floor
	l := sequential.Until(analyzetest.Run(t, spec), 0.5)
	if l.Asked != 2 || !l.Ended {
		t.Errorf("of baselines alone: %+v", l)
	}
}
