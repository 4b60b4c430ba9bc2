package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

var upcoming = run.Upcoming{Done: 34, Total: 120, Failed: 2, Env: "docker/runc/overlay2", Workload: "hello",
	Block: 3, Blocks: 10, Left: 130 * time.Second, Own: 0.0042}

// The line fits into every terminal: the bar shrinks first, then our own share
// goes, then the bar.
func TestBarLine(t *testing.T) {
	wide := barLine(upcoming, 200)
	if !strings.Contains(wide, "██████░") || !strings.HasSuffix(wide, "34/120, 2 failed, 3 min left, block 3 of 10: docker/runc/overlay2; plimsoll itself: 0.42 % CPU") {
		t.Error(wide)
	}
	both := upcoming
	both.Unsupported = 3
	if s := barLine(both, 200); !strings.Contains(s, "34/120, 3 unsupported, 2 failed, 3 min left") {
		t.Error(s)
	}
	if s := barLine(upcoming, 110); !strings.HasPrefix(s, "  ██░░░░░░░░ 34/120") || !strings.Contains(s, "itself") {
		t.Error(s)
	}
	if s := barLine(upcoming, 80); strings.Contains(s, "itself") || !strings.Contains(s, "█") {
		t.Error(s)
	}
	timed := run.Upcoming{Done: 34, Env: "docker", Workload: "hello", AtMost: true, Block: 9, Left: 70 * time.Second}
	if s := describe(timed); s != "34 trials, at most 71 s left, block 9: docker" {
		t.Error(s) // time alone ends it
	}
	for _, width := range []int{10, 40, 60, 80, 200} {
		var out bytes.Buffer
		b := &bar{out: &out, width: func() int { return width }}
		b.Trial(upcoming)
		b.Step(strings.Repeat("opening something ", 20))
		for _, l := range strings.Split(out.String(), "\r\x1b[K") {
			if n := utf8.RuneCountInString(l); n >= width {
				t.Errorf("%d columns: %d: %s", width, n, l)
			}
		}
	}
}

func TestBarASCII(t *testing.T) {
	var out bytes.Buffer
	b := &bar{out: &out, width: func() int { return 120 }, ascii: true}
	b.Trial(upcoming)
	b.Remark("± 2 %")
	if s := out.String(); !strings.Contains(s, "##......") || strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		t.Errorf("%q", s)
	}
}

// Of each kind of failure the first few are shown, and not many in all; what an
// engine says is one harmless line.
func TestFailuresAreBounded(t *testing.T) {
	var f failures
	count := func(env string, class record.Class, n int) (lines []string) {
		for range n {
			if s := f.line(run.Failed{Env: env, Workload: "hello", Class: class, Text: "no\x1b[2J\nway"}); s != "" {
				lines = append(lines, s)
			}
		}
		return lines
	}
	got := count("docker", record.Crash, 10)
	if len(got) != mostOfKind || got[0] != "failed: docker: crash: no way" || !strings.HasSuffix(got[mostOfKind-1], "(further ones of this kind are only counted)") {
		t.Errorf("%q", got)
	}
	if s := f.line(run.Failed{Env: "oci", Workload: "nginx", Class: record.Unsupported, Text: "it has no network"}); s != "unsupported: oci nginx: it has no network" {
		t.Error(s)
	}
	if s := f.line(run.Failed{Env: "oci", Workload: "nginx", Class: record.Unsupported, Text: "it has no network", Untried: true}); s != "" {
		t.Errorf("told twice: %s", s)
	}
	all := len(got) + 1
	for i := range 100 {
		got = count(fmt.Sprint("env", i), record.Crash, 1)
		if all += len(got); len(got) == 1 && all == mostFailures && !strings.HasSuffix(got[0], "(further failures are only counted)") {
			t.Errorf("%q", got)
		}
	}
	if all != mostFailures {
		t.Errorf("%d lines", all)
	}
}
