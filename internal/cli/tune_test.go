//go:build linux

package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/tune"
)

// putBack is how long it may take until what a killed run has set is as before: a moment,
// and many times that where others keep the processors busy.
const putBack = 30 * time.Second

// TestTunedKilled kills runs on a tuned machine: whenever it is, all states of the
// machine are as before, within seconds and without a command. Where the guard is killed
// too, plimsoll clean or the next run puts them back.
func TestTunedKilled(t *testing.T) {
	x := newTuned(t)
	for i := range 6 {
		x.out = filepath.Join(x.dir, fmt.Sprintf("killed-%d", i))
		begin, all := time.Now(), i == 2 || i == 3
		x.killOnce(func(pid int) bool {
			guards := x.guards()
			if time.Since(begin) < time.Duration(i)*300*time.Millisecond || len(guards) == 0 || x.asBefore() {
				return false
			}
			if x.stops(pid); x.asBefore() { // it went on to the next trial meanwhile
				x.sends(pid, syscall.SIGCONT)
				return false
			}
			if len(guards) != 1 {
				t.Errorf("a run has the guards %v", guards)
			}
			x.sends(guards[0], syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
			if all {
				x.sends(guards[0], syscall.SIGKILL)
			}
			return true
		}, x.study(i, 500)...)
		if !all {
			x.restored(putBack)
			continue
		}
		if x.asBefore() {
			t.Error("the machine is as before, though nobody was left to put anything back")
		}
		putBack := []string{"clean", "--wait"}
		if i == 3 { // the next run does it, too
			putBack = x.next()
		}
		if code, said := x.run(putBack...); code != 0 {
			t.Fatalf("status %d: %s", code, said)
		}
		x.restored(0)
	}
	x.cleaned() // the folders of the runs
}

// TestTunedGuard: a run that ends well, or that a Ctrl-C ends, has a guard meanwhile and
// leaves none.
func TestTunedGuard(t *testing.T) {
	x := newTuned(t)
	for i, blocks := range []int{3, 500} {
		x.out = filepath.Join(x.dir, fmt.Sprintf("ended-%d", i))
		cmd := x.command(x.study(0, blocks)...)
		var said strings.Builder
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		seen, over := 0, false
		for !over {
			select {
			case <-ended:
				over = true
			case <-time.After(2 * time.Millisecond):
				seen = max(seen, len(x.guards()))
				if blocks == 500 && seen > 0 && !x.asBefore() {
					x.sends(cmd.Process.Pid, syscall.SIGINT)
					<-ended
					over = true
				}
			}
		}
		if want := map[int]int{3: int(Done), 500: int(Interrupted)}[blocks]; cmd.ProcessState.ExitCode() != want || seen != 1 {
			t.Fatalf("status %d, and %d guards were seen: %s", cmd.ProcessState.ExitCode(), seen, said.String())
		}
		x.restored(0)
	}
}

// tuned is a machine that can be tuned, as it was before.
type tuned struct {
	*subject
	settings map[string]string
}

func newTuned(t *testing.T) *tuned {
	t.Helper()
	if testing.Short() {
		t.Skip("sets states of the machine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("only the machine's root sets its states")
	}
	x := &tuned{subject: &subject{t: t, dir: t.TempDir()}}
	can := 0
	x.inTurn(func() {
		for _, s := range (tune.Machine{}).Look() {
			can += len(s.Changes)
		}
		x.settings = settingsNow()
	})
	if can == 0 {
		t.Skip("no state of this machine can be set")
	}
	t.Cleanup(func() { // before the folder goes that says what was changed
		if t.Failed() {
			code, said := x.run("clean", "--wait")
			t.Logf("clean: status %d, and all is as before: %v\n%s", code, x.asBefore(), said)
		}
	})
	return x
}

// inTurn does something while nobody else measures, and so nobody tunes the machine.
func (p *subject) inTurn(do func()) {
	p.t.Helper()
	s, err := newSetting(p.world())
	require.NoError(p.t, err)
	o := s.options()
	o.Wait = true
	unlock, err := o.Turn(p.t.Context())
	require.NoError(p.t, err)
	defer unlock()
	do()
}

// study is the command line of a run on a tuned machine. The levels of every second one
// are values of one setting.
func (x *tuned) study(i, blocks int) []string {
	x.t.Helper()
	file := filepath.Join(x.dir, "tuned.yaml")
	levels := []string{"[default, all]", "[rcu-expedited=0, rcu-expedited=1]"}
	require.NoError(x.t, os.WriteFile(file, fmt.Appendf(nil, `plimsoll: 1
name: tuned
protocol: {blocks: %d, warmup: 0}
baselines: []
workloads: [hello]
environments: [{engine: floor, tuned: %s}]
`, blocks, levels[i%len(levels)]), 0o600))
	return x.runs(file)
}

// next is that of a run on a machine as it is.
func (x *tuned) next() []string {
	x.t.Helper()
	file := filepath.Join(x.dir, "next.yaml")
	require.NoError(x.t, os.WriteFile(file, []byte("plimsoll: 1\nname: next\nprotocol: {blocks: 1, warmup: 0}\nbaselines: []\nworkloads: [hello]\nenvironments: [floor]\n"), 0o600))
	x.out = filepath.Join(x.dir, "next")
	return x.runs(file)
}

func (x *tuned) runs(study string) []string {
	return []string{"run", "--wait", study, "-o", x.out, "--force", "--progress", "none"}
}

func (x *tuned) asBefore() bool { return maps.Equal(settingsNow(), x.settings) }

func (x *tuned) note() bool {
	_, err := os.Lstat(filepath.Join(x.dir, "state", "kernel-setting.json"))
	return err == nil
}

// restored demands that within some time every setting is as before, and that neither a
// note nor a guard is left.
func (x *tuned) restored(within time.Duration) {
	x.t.Helper()
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		note, guards := x.note(), x.guards()
		if !note && len(guards) == 0 && x.asBefore() {
			return
		}
		if time.Since(begin) < within {
			continue
		}
		now := settingsNow()
		if !note && len(guards) == 0 { // then somebody else's run may have tuned the machine
			x.inTurn(func() { now = settingsNow() })
		}
		if !maps.Equal(now, x.settings) || note || len(guards) > 0 {
			x.t.Fatalf("not all is as before (a note: %v, guards %v):\n%v\nwas\n%v", note, guards, now, x.settings)
		}
		return
	}
}

// guards are the processes that would put back the settings of this state directory.
func (x *tuned) guards() (pids []int) {
	for _, pid := range proc.Here.PIDs() {
		argv, err := proc.Here.Argv(pid)
		if err == nil && len(argv) > 1 && argv[0] == "plimsoll-guard" && strings.HasPrefix(argv[1], x.dir+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (x *tuned) sends(pid int, signals ...syscall.Signal) {
	x.t.Helper()
	for _, sig := range signals {
		require.NoError(x.t, syscall.Kill(pid, sig))
	}
}

// stops stops a process, and returns when each of its threads stands still: then the machine
// stays as it is.
func (x *tuned) stops(pid int) {
	x.t.Helper()
	x.sends(pid, syscall.SIGSTOP)
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		going := ""
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		require.NoError(x.t, err)
		for _, th := range threads {
			id, err := strconv.Atoi(th.Name())
			require.NoError(x.t, err)
			if st, err := proc.Here.Stat(id); err == nil && st.State != 'T' { // else it has ended
				going += fmt.Sprintf(" %d %c", id, st.State)
			}
		}
		if going == "" {
			return
		}
		if time.Since(begin) > putBack {
			x.t.Fatalf("threads that don't stop:%s", going)
		}
	}
}

// settingsNow says of all that can be set here what it is: every file of a state that
// has several, and what only a value can set.
func settingsNow() map[string]string {
	states := tune.Machine{}.Look()
	for _, level := range tune.Values() {
		if more, err := (tune.Machine{}).Wanted(level); err == nil { // else it can't be set here
			states = append(states, more...)
		}
	}
	now := map[string]string{}
	for _, s := range states {
		for _, c := range s.Changes {
			now[c.Path] = c.Old
		}
	}
	return now
}
