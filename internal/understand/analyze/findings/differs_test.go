package findings_test

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// What differs from the paper and decides nothing is said of a claim whose pairs
// have it, and of no other; the verdict stays as a whole.
func TestDiffers(t *testing.T) {
	start := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}
	size := record.ClaimTest{Of: of("engine", "docker"), Workload: choice("work", "size", "small"), Metric: "size", Value: below(6e6)}
	pipe := record.StandIn{Aspect: "instrument", Workload: choice("hello"), Metrics: []string{"startup"}, Paper: "a packet", Here: "a pipe"}
	api := record.StandIn{Aspect: "client", Of: of("engine", "docker", "client", "api"), Paper: "a command", Here: "api"}
	for _, c := range []struct {
		name   string
		test   record.ClaimTest
		client string // that docker was asked by
		want   []string
	}{
		{"both", start, "api", []string{"a pipe", "api"}},
		{"the paper's client", start, "cli", []string{"a pipe"}},
		{"another workload", size, "api", []string{"api"}},
		{"nothing", size, "cli", nil},
		{"the paper's own program", start, "api program", []string{"a pipe"}},
		{"no pair", record.ClaimTest{Of: of("engine", "lxd"), Workload: choice("hello"), Metric: "startup", Value: below(2e8)}, "api", nil},
	} {
		run := claimRun(base, 0.02, func(r *recordtest.Cells) {
			for i := range r.Envs {
				if r.Envs[i].Engine == "docker" {
					client, program, _ := strings.Cut(c.client, " ")
					r.Envs[i].Levels["client"] = client
					if program != "" {
						r.Envs[i].Facts = map[string]string{"program": "a Command"}
					}
				}
			}
		})
		run.Claims = []record.Claim{{ID: "t/1", Says: "It is so.", Tests: []record.ClaimTest{c.test}, Differs: []record.StandIn{pipe, api}}}
		res, err := evaluate.Run(run.Open(t), evaluate.Options{})
		require.NoError(t, err)
		f := res.Findings.Claims[0]
		if c.name != "no pair" && f.Verdict != analyze.ClaimSupported || f.Partly || f.Instead != nil {
			t.Errorf("%s: %s, partly %v: %s", c.name, f.Verdict, f.Partly, f.Reason)
		}
		var got []string
		for _, d := range f.Differs {
			got = append(got, d.Here)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q is told, expected %q", c.name, got, c.want)
		}
	}
}
