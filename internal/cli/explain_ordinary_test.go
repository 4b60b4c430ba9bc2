//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/timeline"
)

// TestExplainAsOrdinaryUser: who is not root is shown the steps that are timed from
// outside, what is lacking for more, and the command that gives it.
func TestExplainAsOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("the script explain tries it as the ordinary user who runs the tests")
	}
	p := newOrdinary(t)
	const why = "only root may follow the kernel (sudo plimsoll explain "
	for _, c := range []struct {
		asked []string
		until string
		step  string
		least float64 // ms
	}{
		{[]string{"--", "sleep", "0.02"}, "exit", "from request to exit", 20},
		{[]string{"host"}, "ready", "from request to first", 0},
	} {
		asked := strings.Join(c.asked, " ")
		args := append([]string{"--starts", "3", "--wait", "--progress", "none"}, c.asked...)
		code, out, said := p.explain(append([]string{"--format", "json"}, args...)...)
		var x timeline.Explanation
		if code != 0 {
			t.Fatalf("explain %s: status %d\n%s", asked, code, said)
		}
		require.NoError(t, json.Unmarshal([]byte(out), &x))
		var steps []string
		for _, s := range x.Tree.Steps {
			if !s.Unexplained || len(s.Steps) > 0 {
				t.Errorf("explain %s: %q is said to have a cause", asked, s.Name)
			}
			steps = append(steps, s.Name)
		}
		if x.Lacks != why+asked+")." || x.Until != c.until || x.Starts < 3 || x.NS < 1e6*c.least || x.NS <= 0 || x.UnexplainedNS < x.Tree.NS*99/100 ||
			!slices.Contains(steps, c.step) {
			t.Errorf("explain %s: %d starts of %g ns until %s, of which %d ns have no cause, by the steps %q; it lacks: %s", asked, x.Starts, x.NS, x.Until, x.UnexplainedNS, steps, x.Lacks)
		}
	}
	const asked = "-- sleep 0.02"
	code, out, said := p.explain(append([]string{"--starts", "1", "--progress", "none"}, strings.Fields(asked)...)...)
	if out = strings.Join(strings.Fields(out), " "); code != 0 || !strings.Contains(out, "What it went into is not known: "+why+asked+").") || !strings.Contains(out, "from request to exit") {
		t.Errorf("explain %s: status %d\n%s%s", asked, code, out, said)
	}
	// Where nothing can be shown without it, nothing is.
	code, out, said = p.explain("--format", "chrome", "--starts", "1", "--progress", "none", "--", "true")
	if code == 0 || strings.Contains(out, "traceEvents") || !strings.Contains(strings.Join(strings.Fields(said), " "), "there is no course to draw: "+why+"-- true)") {
		t.Errorf("drawing a course: status %d\n%s%s", code, out, said)
	}
	code, _, said = p.explain("--at-once", "2", "--", "true")
	if code != int(NothingHere) || !strings.Contains(said, "sudo plimsoll explain --at-once 2 -- ") {
		t.Errorf("several at once: status %d\n%s", code, said)
	}
	for asked, want := range map[string]string{"--at-once 1,2 -- true": "sudo plimsoll explain --at-once 1,2 -- true\n", "all --at-once 1,4": "sudo plimsoll explain --at-once 1,4 all\n"} {
		if code, _, said = p.explain(strings.Fields(asked)...); code != int(NothingHere) || !strings.Contains(said, want) {
			t.Errorf("explain %s: status %d\n%s", asked, code, said)
		}
	}
}

// TestExplainWithoutTracing: whoever is root only in a user namespace may not follow the
// kernel, as where there is no tracing file system: the steps that are timed from outside
// are shown, with what the kernel said and what would give more.
func TestExplainWithoutTracing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("only root may run the program as another user")
	}
	p := newOrdinary(t)
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: int(p.as.Credential.Uid), Size: 1}}
	p.as = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: ids, GidMappings: ids, Credential: &syscall.Credential{NoSetGroups: true}}
	try := exec.Command("true")
	if try.SysProcAttr = p.as; try.Run() != nil {
		t.Skip("this machine gives nobody a user namespace")
	}
	code, out, said := p.explain("--format", "json", "--starts", "2", "--progress", "none", "--", "sleep", "0.02")
	var x timeline.Explanation
	if code != 0 {
		t.Fatalf("status %d\n%s", code, said)
	}
	require.NoError(t, json.Unmarshal([]byte(out), &x))
	if !strings.Contains(x.Lacks, "the kernel can't be followed here (opening the tracing file system: ") || !strings.Contains(x.Lacks, "CAP_SYS_ADMIN") || x.NS < 20e6 || x.UnexplainedNS != x.Tree.NS {
		t.Errorf("%g ns, of which %d ns have no cause; it lacks: %s", x.NS, x.UnexplainedNS, x.Lacks)
	}
	code, _, said = p.explain("--at-once", "2", "--progress", "none", "--", "true")
	if code != int(NothingHere) || !strings.Contains(said, "the kernel can't be followed here") {
		t.Errorf("several at once: status %d\n%s", code, said)
	}
}

// ordinary is a user without any right, with a home.
type ordinary struct {
	t    *testing.T
	home string
	as   *syscall.SysProcAttr
}

func newOrdinary(t *testing.T) *ordinary {
	t.Helper()
	const nobody = 65534
	home, err := os.MkdirTemp("", "plimsoll-ordinary-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	require.NoError(t, os.Chown(home, nobody, nobody))
	return &ordinary{t: t, home: home, as: &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}}
}

// explain runs the command to its end.
func (p *ordinary) explain(args ...string) (status int, out, said string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute) // it may wait for its turn
	defer cancel()
	// By this path it is found wherever it lies.
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"explain"}, args...)...)
	cmd.Args[0] = "plimsoll" // TestMain goes by the name
	cmd.Dir, cmd.Env = p.home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.home, "PLIMSOLL_STATE=" + filepath.Join(p.home, "state"), "CI=1"}
	cmd.SysProcAttr = p.as
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}
