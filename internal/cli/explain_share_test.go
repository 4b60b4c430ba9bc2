//go:build linux

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apptainer"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/cri"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/lxc"
	"plimsoll/internal/measure/engine/lxd"
	"plimsoll/internal/measure/engine/nerdctl"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/view"
)

// realStart is one of a real engine, that is explained.
type realStart struct {
	engine engine.Engine
	env    []string
}

// TestExplainLeavesLittle: of real engines' starts little is left without a cause that
// has a name. Those of crun and containerd are asked where delays are found.
func TestExplainLeavesLittle(t *testing.T) {
	leavesLittle(t, realStart{charliecloud.New(), []string{"charliecloud"}},
		realStart{docker.New(), []string{"docker", "network=none"}},
		realStart{oci.New(), []string{"oci", "runtime=runc"}})
}

// TestSiteExplainLeavesLittle: nor is it of those that take longer.
func TestSiteExplainLeavesLittle(t *testing.T) {
	if !*atSite {
		t.Skip("takes two minutes: make test-site")
	}
	leavesLittle(t, realStart{podman.New(), []string{"podman", "network=none"}},
		realStart{cri.New(), []string{"cri"}},
		realStart{apptainer.New(), []string{"apptainer"}},
		realStart{nerdctl.New(), []string{"nerdctl"}},
		realStart{lxc.New(), []string{"lxc"}},
		// Each of theirs takes seconds with all that is around it.
		realStart{lxd.New(), []string{"lxd", "--starts", "3"}},
		realStart{lxd.NewIncus(), []string{"incus", "--starts", "3"}})
}

func leavesLittle(t *testing.T, of ...realStart) {
	t.Helper()
	kit := enginetest.Kit(t)
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	for _, c := range of {
		t.Run(c.env[0], func(t *testing.T) {
			if d := c.engine.Detect(t.Context(), kit); !d.Usable {
				t.Skip(c.env[0] + " does not run here (lab/up starts it): " + d.Reason)
			}
			dir, why := t.TempDir(), ""
			for range 3 {
				x := explained(t, dir, hereAsItIs, c.engine, c.env)
				if why = unnamed(x); why == "" {
					t.Logf("%.1f ms, %.1f %% of which have no cause", x.NS/1e6, 100*float64(x.UnexplainedNS)/float64(x.Tree.NS))
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
	x := explained(t, t.TempDir(), hereAsItIs, e, []string{"charliecloud", "--keep", kept})
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
