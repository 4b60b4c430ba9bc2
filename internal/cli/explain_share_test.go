//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/view"
)

// TestExplainLeavesLittle: of real engines' starts little is left without a cause that
// has a name. Those of crun and containerd are asked where delays are found.
func TestExplainLeavesLittle(t *testing.T) {
	kit := enginetest.Kit(t)
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	for _, c := range []struct {
		engine engine.Engine
		env    []string
	}{
		{charliecloud.New(), []string{"charliecloud"}},
		{docker.New(), []string{"docker", "network=none"}},
	} {
		t.Run(c.env[0], func(t *testing.T) {
			if d := c.engine.Detect(t.Context(), kit); !d.Usable {
				t.Skip(c.env[0] + " does not run here (lab/up starts it): " + d.Reason)
			}
			w, dir, why := World{LookPath: exec.LookPath, Getenv: os.Getenv}, t.TempDir(), ""
			for range 3 {
				if why = unnamed(explained(t, dir, w, c.engine, c.env)); why == "" {
					return
				}
			}
			t.Error(why)
		})
	}
}

// TestExplainKeeps: the record that is kept draws the lanes of its environment, and
// says which command follows the same starts again.
func TestExplainKeeps(t *testing.T) {
	kit := enginetest.Kit(t)
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	e, kept := charliecloud.New(), filepath.Join(t.TempDir(), "kept")
	if d := e.Detect(t.Context(), kit); !d.Usable {
		t.Skip("charliecloud does not run here (lab/up starts it): " + d.Reason)
	}
	x := explained(t, t.TempDir(), World{LookPath: exec.LookPath, Getenv: os.Getenv}, e, []string{"charliecloud", "--keep", kept})
	r, err := record.Open(kept)
	require.NoError(t, err)
	d, err := view.Build(r, view.Options{})
	require.NoError(t, err)
	if len(d.Courses) != 1 || d.Courses[0].Starts != x.Starts || d.Courses[0].NS < 0.999*x.NS || d.Courses[0].NS > 1.001*x.NS || len(d.Courses[0].Lanes.Threads) == 0 {
		t.Errorf("the page draws %+v of %d starts that take %g ns", d.Courses, x.Starts, x.NS)
	}
	if want := "plimsoll explain charliecloud --starts 6"; d.Run.Repeat != want {
		t.Errorf("the command to repeat is %q, not %q", d.Run.Repeat, want)
	}
}

// What of a start may have no cause that has a name, in all and in one step.
const mostUnexplained, mostInOne = 0.10, 0.05

// unnamed says what of a start has no cause with a name, where that is too much.
func unnamed(x *timeline.Explanation) string {
	whole := float64(x.Tree.NS)
	if share := float64(x.UnexplainedNS) / whole; share > mostUnexplained {
		return fmt.Sprintf("%s: %.0f %% of the start is unexplained:\n%s", x.What, 100*share, gaps(x.Tree, x.Tree.Name, whole/100))
	}
	if all := gaps(x.Tree, x.Tree.Name, mostInOne*whole); all != "" {
		return fmt.Sprintf("%s: of %.2f ms these have no cause with a name:\n%s", x.What, whole/1e6, all)
	}
	return ""
}

// gaps lists the steps without a cause that take longer than a time, ns.
func gaps(s *timeline.Step, path string, longer float64) (text string) {
	if s.Unexplained && float64(s.NS) > longer {
		return fmt.Sprintf("%.2f ms %s\n", float64(s.NS)/1e6, path)
	}
	for _, b := range s.Steps {
		text += gaps(b, path+" > "+b.Name, longer)
	}
	return text
}
