package timeline

import (
	"cmp"
	"slices"
	"strings"
)

// meetings are waits for another process or thread, or for what comes from outside:
// where they lie in says how it would be told, and not who has to tell it.
var meetings = []mechanism{
	{"flock_lock_inode_wait", "a lock on a file"},
	{"locks_lock_inode_wait", "a lock on a file"},
	{"posix_lock_inode_wait", "a lock on a file"},
	{"do_lock_file_wait", "a lock on a file"},
	{"fcntl_setlk", "a lock on a file"},
	{"do_wait", "a process of its own to end"},
	{"fifo_open", "the other end of a named pipe to be opened"},
	{"wait_for_partner", "the other end of a named pipe to be opened"},
	{"pipe_read", "something to be written to a pipe"},
	{"anon_pipe_read", "something to be written to a pipe"},
	{"pipe_write", "room in a pipe"},
	{"anon_pipe_write", "room in a pipe"},
	{"unix_stream_connect", "a server to take its connection"},
	{"unix_stream_read_generic", "a message from a Unix socket"},
	{"unix_dgram_recvmsg", "a message from a Unix socket"},
	{"__unix_dgram_recvmsg", "a message from a Unix socket"}, // one that keeps messages apart, too
	{"unix_accept", "a connection by a Unix socket"},
	{"unix_wait_for_peer", "room in a Unix socket"},
	{"sock_alloc_send_pskb", "room in a socket"},
	{"tcp_recvmsg", "a message by TCP"},
	{"inet_csk_accept", "a connection by TCP"},
	{"inet_stream_connect", "a connection by TCP"},
	{"vfork", "its child to execute a program"},
	{"kernel_clone", "its child to execute a program"},
	{"futex_do_wait", "another thread (futex)"},
	{"futex_wait_queue", "another thread (futex)"},
	{"do_epoll_wait", "one of its files (epoll)"},
	{"ep_poll", "one of its files (epoll)"},
	{"do_poll", "one of its files (poll)"},
	{"do_sys_poll", "one of its files (poll)"},
	{"poll_schedule_timeout", "one of its files (poll)"},
	{"do_select", "one of its files (select)"},
	{"do_sigtimedwait", "a signal"},
	{"sigsuspend", "a signal"},
}

// enders are what ends a wait where no thread does, by functions of the interrupt. A
// timer that wakes a thread is one that the thread set when it began to wait.
var enders = []mechanism{
	{"hrtimer_wakeup", timer},
	{"process_timeout", timer},
	{"timerfd_", "a timer of its own (timerfd)"},
	{"it_real_fn", "a timer's signal"},
	{"posix_timer_fn", "a timer's signal"},
	{"net_rx_action", "the network"},
	{"blk_mq_", "the disk"},
	{"blk_done_softirq", "the disk"},
	{"bio_endio", "the disk"},
	{"rcu_core", "an RCU grace period"},
	{"tty_", "the terminal"},
}

const timer = "a timer"

// met is the cause of a wait for somebody or something outside, by what ended it. Where
// nothing says what did, it is a wait that has no cause.
func (p *Piece) met(what string) Cause {
	if p.By != "" { // who has no name is no cause
		return Cause{"waits for " + what + ", from " + p.By, p.By == unknown}
	}
	if !p.Interval.Interrupt {
		return Cause{"waits for " + what, true}
	}
	switch by := find(p.Interval.Ender, enders); by {
	case "":
		return Cause{"waits for " + what, true}
	case timer:
		_, how, _ := strings.Cut(strings.TrimSuffix(what, ")"), "(")
		how = cmp.Or(how, what)
		return Cause{Text: "waits until a time that it set (" + how + ")"}
	default:
		return Cause{Text: "waits for " + what + ", from " + by}
	}
}

// parts are what somebody has or does whom another one waits for, by where that one
// waits. A child, or whoever answers, needs no word.
var parts = []mechanism{
	{"flock_lock_inode_wait", "has a lock on a file"},
	{"locks_lock_inode_wait", "has a lock on a file"},
	{"posix_lock_inode_wait", "has a lock on a file"},
	{"do_lock_file_wait", "has a lock on a file"},
	{"fcntl_setlk", "has a lock on a file"},
	{"rtnl_lock", "has the lock of the network configuration (RTNL)"},
	{"rwsem_down_", "has a lock of the kernel (a read-write semaphore)"},
	{"__mutex_lock", "has a lock of the kernel (a mutex)"},
	{"pipe_write", "reads a pipe that is full"},
	{"anon_pipe_write", "reads a pipe that is full"},
	{"unix_wait_for_peer", "reads a Unix socket that is full"},
	{"sock_alloc_send_pskb", "reads a socket that is full"},
}

// bound says whether a wait is for one that is known from its beginning: who has what is
// waited for, or a child. Also the part of it before its end is then explained by that one.
func (i *Interval) bound() bool { return i.part() != "" || slices.Contains(i.Stack, "do_wait") }

// part is what the one that ended a wait had or did, behind its name.
func (i *Interval) part() string {
	if text := find(i.Stack, parts); text != "" {
		return ", which " + text
	}
	return ""
}
