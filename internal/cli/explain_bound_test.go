//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/record"
)

// TestExplainIsBounded: without a number of starts explain takes a minute at most, as long as
// that is on this machine; with one it takes that many.
func TestExplainIsBounded(t *testing.T) {
	for _, c := range []struct {
		asked  bool
		atOnce int
		want   string
	}{
		{false, 1, fmt.Sprintf("{time-budget: %s, max-blocks: 20, warmup: 2}", child.Stretch(time.Minute).Round(time.Second))},
		{true, 1, "{blocks: 20, warmup: 2}"},
		{false, 8, "{blocks: 40, warmup: 2}"},
	} {
		f := explainFlags{starts: 10, asked: c.asked, atOnce: c.atOnce}
		if text, err := f.study([][]string{{"lxd"}}); err != nil || !strings.Contains(text, c.want) {
			t.Errorf("asked %v, %d at once: %v, %s; expected %s", c.asked, c.atOnce, err, text, c.want)
		}
	}
}

// TestPaired: where time is up after a traced start its untraced neighbour is missing,
// and what tracing costs is told all the same, by the others.
func TestPaired(t *testing.T) {
	for traced, left := range map[int]int{2: 2, 3: 2, 4: 4} { // of 4 more than one is missing
		s := starts{traces: make([]*record.Trace, traced), untraced: []int64{1, 2}}
		if s.pair(); len(s.traces) != left {
			t.Errorf("of %d traced and 2 untraced starts %d traced are left, expected %d", traced, len(s.traces), left)
		}
	}
}

// TestAskedEnvironments: a word that is no level begins the next environment, and all are the
// engines of this machine, each bare runtime by itself.
func TestAskedEnvironments(t *testing.T) {
	got, err := askedEnvironments(World{}, strings.Fields("docker network=none client=cli podman cri endpoint=crio"))
	if want := "[[docker network=none client=cli] [podman] [cri endpoint=crio]]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	got, err = askedEnvironments(World{Getenv: os.Getenv, LookPath: exec.LookPath}, []string{allThere, "network=none"})
	said := fmt.Sprint(got)
	for _, want := range []string{"[docker network=none]", "[oci runtime=runc network=none]", "[oci runtime=crun network=none]"} {
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("%v: all are %s, without %s", err, said, want)
		}
	}
	if strings.Contains(said, "[native") || strings.Contains(said, "[fake") {
		t.Errorf("baselines are among %s", said)
	}
}

// TestStopIsStudied: what is followed is then the stop, of a container that takes SIGTERM
// as it is asked to.
func TestStopIsStudied(t *testing.T) {
	f := explainFlags{starts: 3, asked: true, atOnce: 1, stop: "none"}
	text, err := f.study([][]string{{"docker", "with=init"}})
	if from, until := f.stretch(); err != nil || !strings.Contains(text, "workloads: [{name: stop, parameters: {on-term: none}}]") || from != record.Stop || until != record.Stopped {
		t.Errorf("%v, from %s to %s:\n%s", err, from, until, text)
	}
}
