package timeline

import (
	"cmp"
	"strings"
)

// Cause says why a piece of the way took time.
type Cause struct {
	// Text is the cause in words; it is the same for the same cause.
	Text string
	// Unexplained: the time is seen, and what it was spent on is not.
	Unexplained bool
}

// mechanism names a wait by a function of the kernel that it lies in.
type mechanism struct {
	function string
	text     string
}

// waits are what a thread can wait for in the kernel. The first that is on the
// stack decides: the general ones come last.
var waits = []mechanism{
	{"synchronize_rcu_expedited", "an expedited RCU grace period"},
	{"synchronize_rcu_tasks", "an RCU grace period of tasks"},
	{"synchronize_rcu", "an RCU grace period"},
	{"synchronize_srcu", "an SRCU grace period"},
	{"rcu_barrier", "RCU's callbacks"},
	{"percpu_down_write", "everyone to leave a per-processor lock"},
	{"percpu_rwsem_wait", "a per-processor lock"},
	{"rtnl_lock", "the lock of the network configuration (RTNL)"},
	{"netlink_dump", "an answer about the network configuration"},
	{"jbd2_log_wait_commit", "the file system's journal on the disk"},
	{"blkdev_issue_flush", "the disk to flush its cache"},
	{"submit_bio_wait", "the disk"},
	{"folio_wait_writeback", "data on their way to the disk"},
	{"filemap_fault", "a part of a program or a library from the disk"},
	{"folio_wait_bit_common", "data from the disk"},
	{"io_schedule", "the disk"},
	{"wait_on_buffer", "the disk"},
	{"rwsem_down_write_slowpath", "a lock of the kernel (a read-write semaphore)"},
	{"rwsem_down_read_slowpath", "a lock of the kernel (a read-write semaphore)"},
	{"__mutex_lock", "a lock of the kernel (a mutex)"},
	{"wait_for_completion", "the kernel to finish a job"},
	{"blk_mq_freeze_queue_wait", "a block device to have nothing under way"},
	{"read_events", "the disk (asynchronous)"},
	{"flush_work", "a job of the kernel's workers"},
	{goSleep, goLooks},
	{"hrtimer_nanosleep", "a pause that it makes itself"},
	{"fuse_", "a file system in user space"},
	{"tty_read", "the terminal"},
}

// goLooks is what a thread waits for in a pause of Go's runtime.
const goLooks = "Go's scheduler to look after its threads again"

// purposes say what for, by a function further out on the stack.
var purposes = []mechanism{
	{"cgroup_procs_write", "moving into a cgroup"},
	{"cgroup_threads_write", "moving into a cgroup"},
	{"cgroup_attach", "moving into a cgroup"},
	{"cgroup_mkdir", "making a cgroup"},
	{"cgroup_rmdir", "removing a cgroup"},
	{"namespace_unlock", "changing mounts"},
	{"kern_unmount", "unmounting"},
	{"path_umount", "unmounting"},
	{"deactivate_super", "letting go of a file system"},
	{"do_new_mount", "mounting"},
	{"path_mount", "mounting"},
	{"copy_net_ns", "making a network namespace"},
	{"copy_mnt_ns", "copying mounts"},
	{"create_new_namespaces", "making namespaces"},
	{"switch_task_namespaces", "leaving a namespace"},
	{"unregister_netdevice", "removing a network device"},
	{"register_netdevice", "adding a network device"},
	{"rtnl_newlink", "adding a network device"},
	{"rtnl_dellink", "removing a network device"},
	{"nf_tables", "changing the packet filter (nftables)"},
	{"nfnetlink_rcv", "changing the packet filter (nftables)"},
	{"do_ip_setsockopt", "changing the packet filter (iptables)"},
	{"seccomp_set_mode", "installing a seccomp filter"},
	{"vfs_fsync_range", "fsync"},
	{"sync_filesystem", "syncing a file system"},
	{"ksys_sync", "sync"},
	{"do_fsync", "fsync"},
	{"__x64_sys_fsync", "fsync"},
	{"__x64_sys_fdatasync", "fsync"},
	{"ext4_sync_file", "fsync"},
	{"xfs_file_fsync", "fsync"},
	{"btrfs_sync_file", "fsync"},
	{"bpf_prog_load", "loading a BPF program"},
	{"cgroup_bpf", "attaching a BPF program to a cgroup"},
	{"begin_new_exec", "executing a program"},
	{"bprm_execve", "executing a program"},
	{"do_exit", "ending"},
}

// through are the system calls that write through to a disk. Their time is theirs whatever
// the kernel does in between, where the stack doesn't reach as far as to say so, too.
var through = map[string]string{"fsync": "fsync", "fdatasync": "fsync", "msync": "fsync", "sync": "sync", "syncfs": "syncing a file system"}

// purpose is what the kernel is at, by a thread's stack and the system call that it is in.
func purpose(stack []string, call string) string {
	return cmp.Or(find(stack, purposes), through[call])
}

func find(stack []string, all []mechanism) string {
	for _, m := range all {
		for _, f := range stack {
			if f == m.function || strings.HasPrefix(f, m.function) {
				return m.text
			}
		}
	}
	return ""
}

// ownCode is the cause of what a program computed where nothing says what.
const ownCode = "its own code"

// computes says whether the program itself had the time, and not the kernel for it.
func (p *Piece) computes() bool {
	return p.Interval != nil && p.Interval.State == Running && p.Interval.Call == ""
}

// why says why a piece took time.
func (p *Piece) why() Cause {
	i := p.Interval
	if i == nil {
		return Cause{"nothing was seen", true}
	}
	switch i.State {
	case Running:
		if i.Call == "" {
			return Cause{ownCode, true}
		}
		return Cause{Text: "in " + i.Call}
	case Queued:
		return Cause{Text: processor + i.purposely()}
	case Waiting:
		what := find(i.Stack, waits)
		if what == "" {
			if what = find(i.Stack, meetings); what != "" {
				return p.met(what)
			}
			what = outer(i)
		}
		if what == "" {
			return Cause{"a wait", true}
		}
		return Cause{Text: "waits for " + what + i.purposely()}
	}
	return Cause{"nothing was seen", true}
}

// processor is the cause of the time in which a thread could go on and does not. Behind a
// wait it counts for what that was for: each of a hundred short waits for a disk ends so.
const processor = "waits for a processor"

// overall is a cause without what it was for, where it is the processors that are short.
func overall(cause string) string {
	if strings.HasPrefix(cause, processor) {
		return processor
	}
	return cause
}

// purposely is the purpose in brackets.
func (i *Interval) purposely() string {
	if i.Purpose == "" {
		return ""
	}
	return " (" + i.Purpose + ")"
}

// outer names a wait that is none of the known ones by its system call, or by the
// innermost function that is not the scheduler's.
func outer(i *Interval) string {
	if i.Call != "" {
		return "something in " + i.Call
	}
	for _, f := range i.Stack {
		if !strings.Contains(f, "schedule") {
			return "something in the kernel's " + f
		}
	}
	return ""
}
