package timeline

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
)

// lone is the tree of a thread that waits from 100 to 900 where a stack says, until the
// thread waker ends it, or an interrupt with a stack of its own.
func lone(waker int, stack, interrupt string) *Step {
	s := newTale(1000, 1, 1, 2, 3)
	s.Frames = nil
	frames := func(names string) (all []int) {
		for name := range strings.FieldsSeq(names) {
			all = append(all, len(s.Frames))
			s.Frames = append(s.Frames, name)
		}
		return all
	}
	s.Threads[2].Kernel, s.Threads[2].Name = true, "kworker/1:2-events"
	s.add(record.TraceEvent{At: 100, Kind: record.TraceSwitch, Thread: 1, Stack: frames(stack)})
	s.add(record.TraceEvent{At: 900, Kind: record.TraceWake, Thread: waker, Other: 1, Interrupt: interrupt != "", Stack: frames(interrupt)})
	s.Events = append(s.Events, record.TraceEvent{At: 900, Kind: record.TraceSwitch, Other: 1, CPU: 1, Runnable: true},
		record.TraceEvent{At: 950, Kind: record.TraceSwitch, Thread: 2, CPU: 2})
	return Read(&s.Trace).Tree()
}

// TestMeetings: a wait for somebody has a cause only where it is seen who or what ended
// it; a timer only if one that the thread set did.
func TestMeetings(t *testing.T) {
	for _, c := range []struct {
		waker            int
		stack, interrupt string
		want             string
	}{
		{0, "schedule do_epoll_wait", "hrtimer_wakeup", "waits until a time that it set (epoll) 800"},
		{0, "schedule futex_do_wait", "hrtimer_wakeup", "waits until a time that it set (futex) 800"},
		{0, "schedule do_epoll_wait", "swake_up_one rcu_core", "waits for one of its files (epoll), from an RCU grace period 800"},
		{0, "schedule do_epoll_wait", "tcp_data_ready net_rx_action", "waits for one of its files (epoll), from the network 800"},
		{0, "schedule do_epoll_wait", "try_to_wake_up", "waits for one of its files (epoll) 800 ?"},
		{0, "schedule do_epoll_wait", "", "waits for one of its files (epoll) 800 ?"},
		{0, "schedule anon_pipe_read", "", "waits for something to be written to a pipe 800 ?"},
		{0, "schedule __skb_wait_for_more_packets __unix_dgram_recvmsg", "", "waits for a message from a Unix socket 800 ?"},
		{3, "schedule anon_pipe_read", "", "waits for something to be written to a pipe, from the kernel's kworker 800"},
		{3, "schedule synchronize_rcu cgroup_procs_write", "", "waits for an RCU grace period (moving into a cgroup) 800"},
		{2, "schedule locks_lock_inode_wait", "", "t2, which has a lock on a file 800"},
		{2, "schedule anon_pipe_write", "", "t2, which reads a pipe that is full 800"},
		{2, "schedule do_wait", "", "t2 800"},
	} {
		got := outline(lone(c.waker, c.stack, c.interrupt))
		found := false
		for line := range strings.Lines(got) {
			found = found || strings.TrimSpace(line) == c.want
		}
		if !found {
			t.Errorf("%+v: expected %q in\n%s", c, c.want, got)
		}
	}
}

// TestNamelessPeer: that somebody ended a wait is no cause where nobody knows who it was.
func TestNamelessPeer(t *testing.T) {
	p := Piece{To: 10, Interval: &Interval{State: Waiting, Stack: []string{"do_epoll_wait"}, Waker: 9}, By: (&Thread{}).Name(5)}
	if why := p.why(); !why.Unexplained || why.Text != "waits for one of its files (epoll), from ?" {
		t.Errorf("%+v", why)
	}
	if p.By = "daemon"; p.why().Unexplained {
		t.Errorf("%+v", p.why())
	}
}

// TestWaitOfItself: where the threads of a program wait for each other, and nothing says for
// what, that is no cause.
func TestWaitOfItself(t *testing.T) {
	s := newTale(1000, 1, 1, 2)
	s.Frames = []string{"futex_do_wait"}
	for i := range s.Threads {
		s.Threads[i].Process, s.Threads[i].Name = 7, "daemon"
	}
	for thread, at := range map[int][2]int64{1: {100, 900}, 2: {50, 890}} {
		s.add(record.TraceEvent{At: at[0], Kind: record.TraceSwitch, Thread: thread, Stack: []int{0}})
		s.add(record.TraceEvent{At: at[1], Kind: record.TraceWake, Thread: 3 - thread, Other: thread})
		s.Events = append(s.Events, record.TraceEvent{At: at[1], Kind: record.TraceSwitch, Other: thread, CPU: thread, Runnable: true})
	}
	slices.SortFunc(s.Events, func(a, b record.TraceEvent) int { return cmp.Compare(a.At, b.At) })
	if got := outline(Read(&s.Trace).Tree()); !strings.Contains(got, "waits for another thread (futex), from daemon 790 ?") {
		t.Errorf("a wait of a program for itself is a cause:\n%s", got)
	}
}
