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

// Environments that differ in the middle of their names alone stay apart in all of a
// screen of several workloads, in whichever line and column they stand.
func TestScreenOfManyKeepsNamesApart(t *testing.T) {
	c := screened(4, 7)
	for i, user := range []string{"rootful", "rootless"} {
		for k, network := range []string{"none", "host"} {
			c.Envs[2+2*i+k].ID = "podman/crun/overlay/" + user + "/network-" + network + "/toolbox"
		}
	}
	time := record.Metric{ID: "time", Unit: "ns", Better: record.LowerIsBetter, Title: "time"}
	for i := range c.Workloads {
		w := &c.Workloads[i]
		w.ID, w.Metrics = fmt.Sprintf("sockperf-loopback/size-%d", i), []record.Metric{time}
	}
	ends := func(work string) (best, worst string) { // the one that follows is the worst
		i := int(work[len(work)-1] - '0')
		return c.Envs[2+i%4].ID, c.Envs[2+(i+1)%4].ID
	}
	c.Value = func(e *record.Environment, w *record.Workload, metric string) (float64, bool) {
		switch best, worst := ends(w.ID); e.ID {
		case best:
			return 1e6, true
		case worst:
			return 9e6, true
		}
		return 4e6, true
	}
	for _, width := range []int{80, 100, 120} { // at 80 the medians give way
		text, is, rows := screenAt(t, screenResult(t, c), width), map[string]string{}, 0
		for l := range strings.SplitSeq(text, "\n") {
			cells := regexp.MustCompile(` {2,}`).Split(l, -1)
			work := cells[0]
			if words.Width(l) > width {
				t.Errorf("%d columns: %d in %q", width, words.Width(l), l)
			}
			if !strings.HasPrefix(work, "sockp") || len(cells) != 4 {
				continue
			}
			rows++
			best, worst := ends(work)
			for i, env := range []string{best, worst} {
				name, _, _ := strings.Cut(cells[1+i], " ")
				if other, ok := is[name]; ok && other != env {
					t.Errorf("%d columns: %s is %s and %s in\n%s", width, name, other, env, text)
				}
				is[name] = env
			}
		}
		if rows != len(c.Workloads) || len(is) < 4 {
			t.Errorf("%d columns: %d rows of %d environments in\n%s", width, rows, len(is), text)
		}
	}
}

// What has no line is counted beside lines that may be alike, each number in its own words.
func TestOthersText(t *testing.T) {
	for want, n := range map[string][3]int{
		"": {0, 0, 0},
		"15 more differ less, 12 cannot be told apart yet (~)": {15, 12, 0},
		"9 more cannot be told apart yet (~), 1 has no value":  {0, 9, 1},
		"1 more differs less, 2 have no value":                 {1, 0, 2},
		"1 more cannot be told apart yet (~), 3 have no value": {0, 1, 3},
	} {
		if got := othersText(n[0], n[1], n[2]); got != want {
			t.Errorf("%v: %q, expected %q", n, got, want)
		}
	}
}
