package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// endLimit bounds the end of a held container, beside its grace.
const endLimit = 40 * time.Second

func holder(t *testing.T, env engine.Environment) engine.Holder {
	t.Helper()
	h, ok := env.(engine.Holder)
	if !ok {
		t.Skip("this environment holds no containers")
	}
	return h
}

// hold starts a container that stays. What a test does not end itself is ended
// when it is over.
func (s *suite) hold(t *testing.T, env engine.Environment, task engine.Task) engine.Held {
	t.Helper()
	h, err := holder(t, env).Hold(t.Context(), task)
	if class(err) == record.Unsupported {
		t.Skipf("not possible here: %v", err)
	}
	if err != nil {
		t.Fatalf("Hold: %v", err)
	}
	t.Cleanup(func() { _, _ = end(t, h, time.Second) }) // for the second time where the test has
	return h
}

func end(t *testing.T, h engine.Held, grace time.Duration) (engine.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), grace+child.Stretch(endLimit))
	defer cancel()
	return h.End(ctx, engine.Stop{Grace: grace})
}

// ended ends a held container, which must not fail.
func ended(t *testing.T, h engine.Held, grace time.Duration) engine.Result {
	t.Helper()
	res, ok := endedWithin(t, h, grace)
	if !ok {
		t.FailNow()
	}
	return res
}

func endedWithin(t *testing.T, h engine.Held, grace time.Duration) (res engine.Result, ok bool) {
	t.Helper()
	res, err := end(t, h, grace)
	if err != nil {
		t.Errorf("End: %v", err)
		return res, false
	}
	if f := res.Failure; f != nil {
		t.Errorf("End: %s: %s (stderr %q)", f.Class, f.Text, res.Stderr)
		return res, false
	}
	return res, true
}

// held: a container stays until it is ended, can be observed meanwhile, and
// its whole life is known afterwards.
func (s *suite) held(t *testing.T) {
	args := probe.PayloadArgs{Stay: true}
	task := s.task(&args)
	h := s.hold(t, s.env, task)
	stdout, _ := h.Output()
	prove(t, engine.Result{Stdout: stdout}, args.Word)
	s.told(t, task.Name)
	select {
	case <-h.Ended():
		t.Error("Ended is closed, and the container should still run")
	default:
	}
	s.place(t, h.Place(), args.Word)

	res := ended(t, h, 10*time.Second)
	select {
	case <-h.Ended():
	default:
		t.Error("Ended is not closed after End")
	}
	p := prove(t, res, args.Word)
	want := []record.Event{record.Request, record.Ready, record.Removed}
	s.exit(t, res)
	if s.opts.Skip["stop handled"] == "" {
		want = append(want, record.Stop, record.Stopped)
		if p.Done == 0 {
			t.Error("the payload did not come to its end: SIGTERM did not reach it")
		}
	}
	stamped(t, res, want...)
	ordered(t, res.Events, record.Request, record.Created, record.Start, record.Ready, record.Stop, record.Exit, record.Removed)
	ordered(t, res.Events, record.Stop, record.Stopped)
	if pids := processesWith(args.Word); len(pids) > 0 {
		t.Errorf("the payload still runs after End: pids %v", pids)
	}
	if again, err := end(t, h, time.Second); err != nil || !reflect.DeepEqual(again, res) {
		t.Errorf("End for the second time: %v, %+v; want the same as before, %+v", err, again, res)
	}
}

// told: the engine's own count of a running container's memory, or why there is
// none. A payload of some ten kilobytes is charged with kernel memory too.
func (s *suite) told(t *testing.T, name string) {
	t.Helper()
	teller, ok := s.env.(engine.Teller)
	if !ok {
		return
	}
	n, err := teller.MemoryTold(t.Context(), []string{name})
	t.Logf("told: %d bytes, %v", n, err)
	if err == nil && (n < 1<<12 || n > 1<<28) {
		t.Errorf("the engine reports %d bytes for one small container", n)
	}
	if err != nil && !strings.Contains(err.Error(), "cgroup") {
		t.Errorf("MemoryTold: %v", err)
	}
	if _, err := teller.MemoryTold(t.Context(), []string{"plimsoll-no-such"}); err == nil {
		t.Error("MemoryTold of a container that there is not: no error")
	}
}

// place is held against what can be seen.
func (s *suite) place(t *testing.T, p engine.Place, word string) {
	t.Helper()
	t.Logf("place: %+v", p)
	facts := s.env.Facts()
	if (p.Address == "") != (p.NoAddress != "") {
		t.Errorf("address %q, and why there is none: %q; want one of the two", p.Address, p.NoAddress)
	}
	if p.Background && facts[engine.HeldFact] != engine.HeldByUs {
		t.Errorf("a process of ours holds it, and the fact %s is %q, want %q", engine.HeldFact, facts[engine.HeldFact], engine.HeldByUs)
	}
	if p.PID == 0 || s.simulated() {
		return
	}
	switch line := cmdline(p.PID); {
	case line == "":
		t.Errorf("there is no process %d", p.PID)
	case !strings.Contains(line, word) && !foreign(facts):
		t.Errorf("the process %d is %q, and not the payload", p.PID, line)
	}
	s.above(t, p.PID)
	s.groups(t, p.PID)
}

// heldEnds: a held container that ends by itself says so, and with which
// status.
func (s *suite) heldEnds(t *testing.T) {
	args := probe.PayloadArgs{Exit: 7}
	h := s.hold(t, s.env, s.task(&args))
	select {
	case <-h.Ended():
	case <-time.After(s.opts.Limit):
		t.Fatal("Ended was not closed when the payload had ended")
	}
	res := ended(t, h, 10*time.Second)
	if p := prove(t, res, args.Word); p.Done == 0 {
		t.Error("the payload did not come to its end")
	}
	if res.Events[record.Stop] != 0 {
		t.Error("it was asked to stop, and had ended by itself")
	}
	if s.opts.Skip["exit status"] == "" && (res.Exit == nil || *res.Exit != 7) {
		t.Errorf("exit status %v, want 7", show(res.Exit))
	}
}

// holdFails: what does not start, or is not ready in time, is an error with a
// class, and leaves nothing.
func (s *suite) holdFails(t *testing.T) {
	env := s.busybox(t)
	h := holder(t, env)
	absent, silent := s.tool("/no/such/program"), s.tool("/bin/busybox", "sleep", "3600.7531")
	silent.Limit = 500 * time.Millisecond
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, task := range []engine.Task{absent, silent} {
		wg.Go(func() {
			held, err := h.Hold(t.Context(), task)
			if err == nil {
				_, _ = end(t, held, time.Second)
				t.Errorf("Hold of %v: no error", task.Argv)
				return
			}
			var e *engine.Error
			if !errors.As(err, &e) || e.Class == "" {
				t.Errorf("Hold of %v: %v; want an error with a class", task.Argv, err)
				return
			}
			if task.Argv[0] == silent.Argv[0] && e.Class != record.Unsupported &&
				(e.Class != record.TimeOut || !strings.Contains(err.Error(), "was not ready within 500ms")) {
				t.Errorf("Hold of what says nothing: %v (class %s), want class %s, as it was not ready", err, e.Class, record.TimeOut)
			}
			t.Logf("Hold of %v: %s: %v", task.Argv, e.Class, err)
		})
	}
}

// exec: one more program in a held container, in its namespaces.
func (s *suite) exec(t *testing.T) {
	args := probe.PayloadArgs{Stay: true, Report: true}
	h := s.hold(t, s.env, s.task(&args))
	x, ok := h.(engine.Executor)
	if !ok {
		t.Skip("this environment executes nothing in a held container")
	}
	inner := probe.PayloadArgs{Report: true, Exit: 7}
	task := s.task(&inner)
	task.Env = []string{"PLIMSOLL_TEST=a b"}
	res, err := x.Exec(t.Context(), task)
	if err == nil && res.Failure != nil && res.Failure.Class == record.Unsupported {
		t.Logf("with an environment of its own: %s", res.Failure.Text)
		task.Env = nil
		res, err = x.Exec(t.Context(), task)
	}
	if err != nil || res.Failure != nil {
		t.Fatalf("Exec: %v, %+v (stderr %q)", err, res.Failure, res.Stderr)
	}
	p := prove(t, res, inner.Word)
	stamped(t, res, record.Request, record.Ready, record.Exit)
	ordered(t, res.Events, record.Request, record.Ready, record.Exit)
	if s.opts.Skip["exit status"] == "" && (res.Exit == nil || *res.Exit != 7) {
		t.Errorf("Exec: exit status %v, want 7", show(res.Exit))
	}
	s.execHangs(t, x)
	select {
	case <-h.Ended():
		t.Error("the held container ended with the program that was executed in it")
	default:
	}
	outer := prove(t, ended(t, h, 10*time.Second), args.Word).Report
	if outer["proc"] == "absent" || s.simulated() {
		return
	}
	host := adapter.HostNow().Kernel
	if seen := outer["uname.release"] + " " + outer["uname.version"]; seen != host {
		return // gVisor numbers its namespaces anew for each process
	}
	for _, kind := range []string{"pid", "net", "mnt"} {
		if a, b := outer["ns."+kind], p.Report["ns."+kind]; a != b || a == "" {
			t.Errorf("Exec: the namespace %s is %q, and the held container's %q", kind, b, a)
		}
	}
}

// execHangs: a program that never ends is killed at its limit, and the container
// is not.
func (s *suite) execHangs(t *testing.T, x engine.Executor) {
	t.Helper()
	args := probe.PayloadArgs{Stay: true, OnTerm: "ignore"}
	task := s.task(&args)
	task.Limit = 700 * time.Millisecond
	res, err := x.Exec(t.Context(), task)
	if err != nil || res.Failure == nil || res.Failure.Class != record.TimeOut {
		t.Errorf("Exec of what never ends: %v, %+v, want class %s", err, res.Failure, record.TimeOut)
	}
	if s.simulated() {
		return
	}
	for end := time.Now().Add(child.Stretch(goneWithin)); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(processesWith(args.Word)) == 0 { // it was killed, and may still be going
			return
		}
	}
	t.Errorf("it still runs after its time limit: pids %v", processesWith(args.Word))
}

// foreign says whether the payload has another kernel than ours (gVisor, a
// virtual machine).
func foreign(facts map[string]string) bool {
	k := facts["kernel"]
	return k != "" && k != "host" && !strings.HasPrefix(adapter.HostNow().Kernel, k)
}

func (s *suite) simulated() bool { return s.engine.Info().Simulated }

// daemons: what the engine names as its own processes is there.
func (s *suite) daemons(t *testing.T) {
	d, ok := s.env.(engine.Daemons)
	if !ok {
		t.Skip("this environment has no daemons")
	}
	sockets, pids := d.Daemons(t.Context())
	t.Logf("sockets %v, pids %v", sockets, pids)
	if s.simulated() {
		return
	}
	if len(sockets)+len(pids) == 0 {
		t.Skip("there are none in this configuration")
	}
	for _, path := range sockets {
		if fi, err := os.Stat(path); err != nil || fi.Mode()&os.ModeSocket == 0 {
			t.Errorf("the daemon's socket %s: %v", path, err)
		}
	}
	for _, pid := range pids {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			t.Errorf("the daemon's process %d: %v", pid, err)
		}
	}
}
