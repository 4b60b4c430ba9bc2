//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/analyze/compare"
)

// TestDelaysAlone puts 1 ms into the create of one of two crun that are alike: both load a
// library that waits, one of them for no time. It is found there, as long as it is, and in
// no other step. Where the scatter of the machine hides as much, that is said.
func TestDelaysAlone(t *testing.T) {
	if os.Getenv("PLIMSOLL_DELAYS") == "" {
		t.Skip("needs a quiet machine for a minute: make test-delays")
	}
	if os.Geteuid() != 0 {
		t.Skip("a bare runtime needs root")
	}
	crun, err := exec.LookPath("crun")
	if err != nil {
		t.Skip("crun is not installed: the lab has it (lab/setup)")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler to put a delay into a build")
	}
	p := &subject{t: t, dir: t.TempDir()}
	build := func(name string, wait time.Duration) string {
		path := filepath.Join(p.dir, name)
		library, err := otherProgram(crun, path, fmt.Sprintf(delay, wait.Nanoseconds()))
		t.Cleanup(func() { _ = os.Remove(library) })
		require.NoError(t, err)
		return path
	}
	const wait = time.Millisecond
	p.measured(append([]string{"ab", "crun", build("none", 0), build("waits", wait), "client=steps", "--metric", "create,startup,start,execution,shutdown,removal",
		"--budget", "60s", "--progress", "none", "--wait", "--force", "-d", "alone", "--format", "json", "-o", "alone.json"}, expedited(t)...)...)
	pair := p.pair("alone.json")
	t.Logf("waits %v: %s", wait, pair.Verdict)
	if pair.Outcome == compare.Unclear {
		t.Skipf("this machine scatters too much to show %v: %s", wait, pair.Verdict)
	}
	found := 0
	for _, c := range pair.Changes.Cells {
		if c.Ratio == nil {
			t.Errorf("%s has no ratio: %s", c.Metric.ID, c.Missing)
			continue
		}
		more := time.Duration((c.Ratio.Value - 1) * c.Base.Value)
		t.Logf("%s: %s, %v more", c.Metric.ID, c.Verdict, more)
		switch c.Metric.ID {
		case "create", "startup": // of which create is a part
			found++
			if c.Verdict != compare.Worse || more < wait*7/10 || more > wait*15/10 {
				t.Errorf("%s is %s by %v, and %v was put in", c.Metric.ID, c.Verdict, more, wait)
			}
		default:
			if c.Verdict == compare.Worse {
				t.Errorf("%s is worse by %v, and nothing was put in", c.Metric.ID, more)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of the metrics are of create", found)
	}
}
