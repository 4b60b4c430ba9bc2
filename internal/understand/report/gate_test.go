package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
)

// oneGated compares two runs of many cells, one of which has a threshold.
func oneGated(t *testing.T, seed uint64) (*compare.Changes, *compare.Change) {
	t.Helper()
	var results [2]*analyze.Result
	for k := range results {
		s := recordtest.Typical()
		s.Envs, s.Seed, s.StealEvery = s.Envs[1:9], seed+uint64(k), 0
		s.ID = fmt.Sprintf("run%05d", k)
		if k == 1 {
			s.Envs[4].StartUp = time.Duration(1.04 * float64(s.Envs[4].StartUp)) // runc
		}
		results[k] = result(t, s)
	}
	c, err := compare.Between(results[0], results[1], compare.Options{})
	require.NoError(t, err)
	require.NoError(t, gate.Judge(c, gate.Thresholds{Rules: []gate.Rule{{Environment: "runc", Metric: "startup", FailAbove: 0.001}}}))
	for i := range c.Cells {
		if c.Cells[i].Gate != nil {
			return c, &c.Cells[i]
		}
	}
	t.Fatal("no cell is gated")
	return nil, nil
}

// Where a cell fails the gate beside a verdict that cannot tell, the reader sees
// by which numbers each was decided.
func TestGateBesideVerdict(t *testing.T) {
	for seed := range uint64(60) {
		c, ch := oneGated(t, 1000+10*seed)
		if ch.Gate.State != compare.GateFails || ch.Verdict != compare.Unclear {
			continue
		}
		if c.Gate.Tested != 1 || c.Tested < 20 || !(*ch.Holm >= 0.05) || !(*ch.Gate.Holm < 0.025) || *ch.Gate.Ratio.Lo <= 1.001 {
			t.Errorf("the gate is over %d cells, the table over %d: %+v", c.Gate.Tested, c.Tested, ch.Gate)
		}
		for _, format := range []string{"text", "markdown", "junit", "github"} {
			var b bytes.Buffer
			require.NoError(t, Changes.Write(&b, format, c, Options{Width: 400}))
			got := strings.ReplaceAll(strings.ReplaceAll(b.String(), "\\", ""), "%25", "%")
			if !regexp.MustCompile(`1\.0\d+ × \[1\.0\d+, 1\.\d+\] at 95 %, p [\d.]+ % over 1 cell`).MatchString(got) {
				t.Errorf("%s does not say what the gate judged by:\n%s", format, got)
			}
			if strings.HasPrefix(format, "j") || format == "github" {
				continue
			}
			if want := fmt.Sprintf("corrected over %d cells, the gate whether it is beyond the threshold, corrected over 1.", c.Tested); !strings.Contains(got, want) {
				t.Errorf("%s does not say %q:\n%s", format, want, got)
			}
		}
		return
	}
	t.Error("no pair of runs in which gate and verdict differ: the test tries nothing")
}
