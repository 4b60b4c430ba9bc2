package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// TestWhere: of each sort of wait the trace says where it was and whether a thread or an
// interrupt ended it, by programs in the kernel as by perf events.
func TestWhere(t *testing.T) {
	for name, noPrograms := range map[string]bool{"by programs in the kernel": false, "by perf events": true} {
		t.Run(name, func(t *testing.T) {
			r := recorderOf(t, Options{Stacks: true, Code: true, noPrograms: noPrograms})
			if r.switches == nil && !noPrograms {
				t.Skip("this kernel takes no programs")
			}
			for i := range waysToWait(t) {
				// Perf events miss some wakings by a timer on an idle processor; what is
				// told wrong is wrong each time.
				var seen string
				for range 20 {
					if seen = notSeen(t, r, waysToWait(t)[i]); seen == "" {
						break
					}
				}
				if seen != "" {
					t.Error(seen)
				}
			}
		})
	}
}

// notSeen is what a trace of a wait lacks, "" where it has it all.
func notSeen(t *testing.T, r *Recorder, w way) string {
	t.Helper()
	tr, waiter := waited(t, r, w)
	var stacks []string
	for _, e := range tr.Events {
		if e.Kind != record.TraceSwitch || e.Thread != waiter || e.Runnable {
			continue
		}
		var names []string
		for _, f := range e.Stack {
			names = append(names, tr.Frames[f])
		}
		stacks = append(stacks, strings.Join(names, " "))
		if end := endOf(tr, waiter, e.At); slices.Contains(names, w.in) && end != nil && end.Interrupt == w.timer {
			return ""
		}
	}
	return fmt.Sprintf("no wait in %s that an interrupt ends: %v; the waits seen:\n%s", w.in, w.timer, strings.Join(stacks, "\n"))
}

// endOf is the first waking of a thread after an instant.
func endOf(tr *record.Trace, thread int, at int64) (first *record.TraceEvent) {
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Kind == record.TraceWake && e.Other == thread && e.At > at && (first == nil || e.At < first.At) {
			first = e
		}
	}
	return first
}

// way is one way to wait, which another thread ends or a timer.
type way struct {
	in    string // a function of the kernel
	timer bool
	wait  func()
	end   func()
}

func waysToWait(t *testing.T) []way {
	t.Helper()
	ok := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	pair := func(of func(fds []int) error) [2]int {
		var fds [2]int
		ok(of(fds[:]))
		t.Cleanup(func() { _ = unix.Close(fds[0]); _ = unix.Close(fds[1]) })
		return fds
	}
	again := func(try func() error) func() {
		return func() {
			err := try()
			for errors.Is(err, unix.EINTR) { // a signal of Go's own
				err = try()
			}
			ok(err)
		}
	}
	read := func(fd int) func() {
		return again(func() error { _, err := unix.Read(fd, make([]byte, 1)); return err })
	}
	write := func(fd int) func() { return func() { _, err := unix.Write(fd, []byte{1}); ok(err) } }
	pipe := pair(func(fds []int) error { return unix.Pipe2(fds, unix.O_CLOEXEC) })
	polled := pair(func(fds []int) error { return unix.Pipe2(fds, unix.O_CLOEXEC) })
	sockets := pair(func(fds []int) error {
		two, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		copy(fds, two[:])
		return err
	})
	name := filepath.Join(t.TempDir(), "lock")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		ok(err)
		t.Cleanup(func() { _ = f.Close() })
		files[i] = f
	}
	ok(unix.Flock(int(files[0].Fd()), unix.LOCK_EX))
	pipeRead := "anon_pipe_read"
	if _, err := os.Stat("/proc/kallsyms"); err == nil && !hasFunction(t, pipeRead) {
		pipeRead = "pipe_read"
	}
	return []way{
		{pipeRead, false, read(pipe[0]), write(pipe[1])},
		{"unix_stream_read_generic", false, read(sockets[0]), write(sockets[1])},
		{"do_sys_poll", false, again(func() error {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(polled[0]), Events: unix.POLLIN}}, -1) //nolint:gosec // a descriptor is small
			return err
		}), write(polled[1])},
		{"hrtimer_nanosleep", true, func() { pause(int64(5 * time.Millisecond)) }, func() {}},
		{"locks_lock_inode_wait", false, again(func() error { return unix.Flock(int(files[1].Fd()), unix.LOCK_EX) }), func() { ok(unix.Flock(int(files[0].Fd()), unix.LOCK_UN)) }},
	}
}

func hasFunction(t *testing.T, name string) bool {
	t.Helper()
	s, err := kernelSymbols()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(s.names, name)
}

// waited records one wait, and says which thread waited. It is ended when it has begun.
func waited(t *testing.T, r *Recorder, w way) (*record.Trace, int) {
	t.Helper()
	tr, err := r.Record(func() (record.TraceHead, error) {
		head := record.TraceHead{From: stamp.Now()}
		begun, done := make(chan int), make(chan struct{})
		go func() {
			runtime.LockOSThread() // its end ends the thread
			begun <- unix.Gettid()
			w.wait()
			close(done)
		}()
		head.Waiter = <-begun
		asleep(head.Waiter, done)
		w.end()
		<-done
		head.To = stamp.Now()
		return head, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr, tr.Waiter
}

// asleep returns when a thread of ours sleeps, or has done what it slept for.
func asleep(thread int, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
			b, err := os.ReadFile(filepath.Join("/proc/self/task", strconv.Itoa(thread), "stat"))
			if err != nil || strings.Contains(string(b), ") S ") {
				return
			}
		}
	}
}

// TestSwitchesLost: what finds no room is counted.
func TestSwitchesLost(t *testing.T) {
	r := recorderOf(t, Options{Pages: 1})
	if r.switches == nil {
		t.Skip("this kernel takes no programs")
	}
	tr, _ := waited(t, r, way{wait: func() {
		for range 200 {
			pause(int64(10 * time.Microsecond))
		}
	}, end: func() {}})
	if tr.Tail.Lost == 0 {
		t.Error("two hundred waits find room for eight events, and none is said to be lost")
	}
}

func TestInterrupting(t *testing.T) {
	for text, want := range map[string][2]bool{
		"": {false, false},
		"try_to_wake_up pipe_write vfs_write do_syscall_64":                                                                                        {false, false},
		"try_to_wake_up hrtimer_wakeup __hrtimer_run_queues __sysvec_apic_timer_interrupt sysvec_apic_timer":                                       {true, false},
		"try_to_wake_up tcp_rcv_established net_rx_action handle_softirqs __irq_exit_rcu sysvec_call_function":                                     {true, true},
		"try_to_wake_up hrtimer_wakeup sysvec_apic_timer_interrupt asm_sysvec_apic_timer handle_softirqs":                                          {true, false},
		"try_to_wake_up sock_def_readable tcp_rcv_established net_rx_action handle_softirqs do_softirq tcp_push":                                   {true, true},
		"try_to_wake_up child_wait_callback do_notify_parent do_exit do_group_exit get_signal arch_do_signal_or_restart asm_sysvec_reschedule_ipi": {false, false},
		"try_to_wake_up rwsem_wake up_read do_user_addr_fault exc_page_fault asm_exc_page_fault":                                                   {false, false},
	} {
		interrupt, softly := interrupting(strings.Fields(text))
		if [2]bool{interrupt, softly} != want {
			t.Errorf("%q: an interrupt %v, soft %v, expected %v", text, interrupt, softly, want)
		}
	}
}
