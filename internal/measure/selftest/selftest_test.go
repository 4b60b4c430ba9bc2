package selftest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/run"
)

func options(t *testing.T) Options {
	return Options{
		Blocks: 40,
		Run: run.Options{
			State: run.State{Dir: filepath.Join(t.TempDir(), "state")}, Root: os.Geteuid() == 0,
			Getenv: os.Getenv, LookPath: exec.LookPath, Progress: run.NoProgress{}, Wait: true,
			Finish: make(chan struct{}),
		},
	}
}

// The whole of it, short: no verdict on the machine is demanded, since a busy
// one may be too noisy; what is simulated must pass everywhere.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	res, err := Run(context.Background(), options(t))
	require.NoError(t, err)
	real := 0
	for _, c := range res.Checks {
		t.Logf("%s %s: %s", c.Verdict, c.Name, c.Text)
		switch c.Name {
		case "A/A, simulated", "injected delay, simulated", "injected delay, simulated: the rest":
			if c.Verdict != Pass {
				t.Errorf("%s: %s", c.Name, c.Text)
			}
		default:
			real++
		}
		if c.Name == "injected delay, stopwatch" && (c.Value < 3 || c.Value > 50) {
			t.Errorf("a delay of 5 ms was not found: %s", c.Text)
		}
	}
	if real != 3 || len(res.Noise) != 1 || res.Noise[0].Relative <= 0 {
		t.Errorf("%d checks on the machine, noise %+v", real, res.Noise)
	}
}

// mounting mounts something below the test's directory, and ends the test.
type mounting struct {
	run.NoProgress
	mount func()
}

func (m mounting) Step(string) { m.mount() }

// TestLeftover: what the test could not remove is told.
func TestLeftover(t *testing.T) {
	o, top, victim := options(t), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", top)
	ctx, end := context.WithCancel(t.Context())
	var why error
	o.Run.Progress = mounting{mount: sync.OnceFunc(func() {
		defer end()
		at := filepath.Join(top, "none")
		if dirs, err := filepath.Glob(filepath.Join(top, "plimsoll-selftest-*")); err == nil && len(dirs) == 1 {
			at = filepath.Join(dirs[0], "mounted")
		}
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Error(err)
		}
		if why = unix.Mount(victim, at, "", unix.MS_BIND, ""); why == nil {
			t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		}
	})}
	res, err := Run(ctx, o)
	if why != nil {
		t.Skipf("mounting is not allowed here: %v", why)
	}
	if res != nil || !errors.Is(err, safepath.ErrMounted) {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want Verdict
	}{{0, 20, Pass}, {1, 20, Pass}, {3, 20, Pass}, {4, 20, Open}, {5, 20, Fail}, {20, 20, Fail}, {0, 0, Open}, {10, 200, Pass}, {10, 100, Open}, {12, 100, Fail}, {25, 200, Fail}} {
		if got := alarms(c.k, c.n); got != c.want {
			t.Errorf("%d of %d: %s, not %s", c.k, c.n, got, c.want)
		}
	}
	for _, c := range []struct {
		in   []Verdict
		want Verdict
	}{{nil, Open}, {[]Verdict{Pass, Pass}, Pass}, {[]Verdict{Pass, Open, Pass}, Open}, {[]Verdict{Open, Pass}, Open}, {[]Verdict{Open, Fail, Pass}, Fail}} {
		r := &Result{}
		for _, v := range c.in {
			r.Checks = append(r.Checks, Check{Verdict: v})
		}
		if got := r.Verdict(); got != c.want {
			t.Errorf("%v: %s, not %s", c.in, got, c.want)
		}
	}
}

// A delay that is not there, or lies in another phase, must be missed.
func TestDelayCheckFails(t *testing.T) {
	s := &series{values: map[string]map[string]map[int]float64{}}
	for block := range 20 {
		s.put("a", "create", block, 20e6+float64(block)*1e3)
		s.put("b", "create", block, 20e6+float64(block)*1e3)
		s.put("a", "removal", block, 1e6)
		s.put("b", "removal", block, 6e6)
	}
	res := &Result{}
	delayCheck(s, res, "x", "a", "b", "create", 20)
	if res.Checks[0].Verdict != Fail || res.Checks[1].Verdict != Fail {
		t.Errorf("a missing delay passed: %+v", res.Checks)
	}
}
