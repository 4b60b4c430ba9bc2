package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/words"
)

// However long names, numbers and units are, a screen of several workloads cuts no factor.
func TestScreenOfManyKeepsFactors(t *testing.T) {
	c := screened(3, 6)
	rate := record.Metric{ID: "rate", Unit: "messages/s", Better: record.HigherIsBetter, Title: "messages"}
	for i := range c.Workloads {
		w := &c.Workloads[i]
		w.ID, w.Metrics = fmt.Sprintf("sockperf-loopback/throughput/size-%d", 1000+i), []record.Metric{rate}
	}
	c.Value = func(e *record.Environment, w *record.Workload, metric string) (float64, bool) {
		return 219507 / float64(1+len(e.ID)%5), metric == rate.ID
	}
	for _, width := range []int{80, 100} {
		text, rows := screenAt(t, screenResult(t, c), width), 0
		for l := range strings.SplitSeq(text, "\n") {
			if words.Width(l) > width {
				t.Errorf("%d columns: %d in %q", width, words.Width(l), l)
			}
			if strings.HasPrefix(l, "sockperf") {
				if rows++; !regexp.MustCompile(`\s[0-9.]+( ~)?$`).MatchString(l) {
					t.Errorf("%d columns: no factor in %q", width, l)
				}
			}
		}
		if rows != len(c.Workloads) {
			t.Errorf("%d columns: %d rows in\n%s", width, rows, text)
		}
	}
}
