//go:build linux

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/trace/tracetest"
	"plimsoll/internal/measure/tune"
)

// TestExplainKilled kills an explanation while it follows the starts of a real engine:
// plimsoll clean leaves nothing of it, and nothing that follows stays in the kernel.
func TestExplainKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	p := &subject{t: t, dir: t.TempDir()}
	s, err := newSetting(p.world())
	require.NoError(t, err)
	for _, f := range s.detect(t.Context(), "docker") {
		if !f.Usable {
			t.Skip("docker does not run here (lab/up starts it): " + f.Reason)
		}
	}
	before, err := host.Machine{}.Census(t.Context())
	require.NoError(t, err)
	p.out = filepath.Join(p.dir, "explained")
	var follows []tracetest.Object
	p.killOnce(func(pid int) bool {
		if len(p.trials()) < 3 {
			return false
		}
		follows = tracetest.Held(pid)
		return true
	}, "explain", "docker", "network=none", "--starts", "200", "--keep", p.out, "--wait", "--progress", "none")
	if len(follows) == 0 {
		t.Log("this kernel takes no programs: none is looked for")
	}
	p.cleaned()
	p.nothingLeft(before)
	tracetest.AllGone(t, follows)
}

// TestTuneKilled kills the measuring of what a state does while the machine is in it: it
// is put back within seconds and without a command.
func TestTuneKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("sets states of the machine: left out with -short")
	}
	const state = "rcu-expedited"
	now := func() tune.State {
		for _, s := range (tune.Machine{}).Look() {
			if s.Name == state {
				return s
			}
		}
		return tune.State{}
	}
	p := &subject{t: t, dir: t.TempDir()}
	var was tune.State
	p.inTurn(func() { was = now() })
	if os.Geteuid() != 0 || len(was.Changes) == 0 {
		t.Skip("the state " + state + " of this machine can't be set: " + was.Why)
	}
	before, err := host.Machine{}.Census(t.Context())
	require.NoError(t, err)
	p.out = filepath.Join(p.dir, "measured")
	p.killOnce(func(int) bool { return now().Now != was.Now }, "tune", "--measure", "floor", "--state", state, "--blocks", "500", "-d", p.out, "--wait", "--force", "--progress", "none")
	for begin := time.Now(); now().Now != was.Now && time.Since(begin) < putBack; {
		time.Sleep(10 * time.Millisecond)
	}
	if s := now(); s.Now != was.Now || s.Already != was.Already {
		t.Errorf("%s was %q and is %q", state, was.Now, s.Now)
	}
	p.cleaned()
	p.nothingLeft(before)
}

// killOnce starts the program and kills it by SIGKILL as soon as this holds.
func (p *subject) killOnce(holds func(pid int) bool, args ...string) {
	p.t.Helper()
	var said bytes.Buffer
	cmd := p.command(args...)
	cmd.Stderr = &said
	require.NoError(p.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	late := time.After(3 * time.Minute) // it may wait for its turn
	for !holds(cmd.Process.Pid) {
		select {
		case err := <-ended:
			p.t.Fatalf("%v: it ended by itself: %v\n%s", args, err, said.String())
		case <-late:
			_ = cmd.Process.Kill()
			<-ended
			p.t.Fatalf("%v: it has not come so far in three minutes\n%s", args, said.String())
		case <-time.After(2 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
}

// cleaned runs plimsoll clean, which has something to do.
func (p *subject) cleaned() {
	p.t.Helper()
	if code, said := p.run("clean", "--wait"); code != 0 || !strings.Contains(said, "removed") {
		p.t.Fatalf("clean: status %d\n%s", code, said)
	}
}
