package trace

import "golang.org/x/sys/unix"

// calls names system calls: those that make a container, those that wait for or speak
// to somebody, and those that write through to a disk. Another has its number for a name.
var calls = map[int]string{
	unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXECVE: "execve", unix.SYS_EXECVEAT: "execveat",
	unix.SYS_EXIT_GROUP: "exit_group", unix.SYS_WAIT4: "wait4", unix.SYS_WAITID: "waitid", unix.SYS_KILL: "kill",
	unix.SYS_UNSHARE: "unshare", unix.SYS_SETNS: "setns", unix.SYS_PIVOT_ROOT: "pivot_root", unix.SYS_CHROOT: "chroot",
	unix.SYS_MOUNT: "mount", unix.SYS_UMOUNT2: "umount2", unix.SYS_MOVE_MOUNT: "move_mount", unix.SYS_OPEN_TREE: "open_tree",
	unix.SYS_FSOPEN: "fsopen", unix.SYS_FSCONFIG: "fsconfig", unix.SYS_FSMOUNT: "fsmount", unix.SYS_MOUNT_SETATTR: "mount_setattr",
	unix.SYS_SECCOMP: "seccomp", unix.SYS_PRCTL: "prctl", unix.SYS_CAPSET: "capset", unix.SYS_BPF: "bpf", unix.SYS_KEYCTL: "keyctl",
	unix.SYS_SETHOSTNAME: "sethostname", unix.SYS_PRLIMIT64: "prlimit64",
	unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNC: "sync", unix.SYS_SYNCFS: "syncfs", unix.SYS_MSYNC: "msync",
	unix.SYS_FUTEX: "futex", unix.SYS_NANOSLEEP: "nanosleep", unix.SYS_CLOCK_NANOSLEEP: "clock_nanosleep", unix.SYS_FLOCK: "flock",
	unix.SYS_READ: "read", unix.SYS_WRITE: "write", unix.SYS_READV: "readv", unix.SYS_WRITEV: "writev", unix.SYS_PREAD64: "pread64",
	unix.SYS_PPOLL: "ppoll", unix.SYS_PSELECT6: "pselect6", unix.SYS_EPOLL_PWAIT: "epoll_pwait",
	unix.SYS_CONNECT: "connect", unix.SYS_ACCEPT4: "accept4", unix.SYS_SOCKET: "socket", unix.SYS_BIND: "bind",
	unix.SYS_SENDTO: "sendto", unix.SYS_RECVFROM: "recvfrom", unix.SYS_SENDMSG: "sendmsg", unix.SYS_RECVMSG: "recvmsg",
	unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_MKDIRAT: "mkdirat", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_RENAMEAT2: "renameat2", unix.SYS_FCNTL: "fcntl", unix.SYS_IOCTL: "ioctl", unix.SYS_SENDFILE: "sendfile",
	unix.SYS_COPY_FILE_RANGE: "copy_file_range", unix.SYS_FINIT_MODULE: "finit_module", unix.SYS_FADVISE64: "fadvise64",
	unix.SYS_FCHOWNAT: "fchownat", unix.SYS_SETXATTR: "setxattr", unix.SYS_FALLOCATE: "fallocate",
}

// waitsIn are the system calls that wait in one place only, and its function of the kernel.
// A stack, which takes ten times as long to find, would say no more.
var waitsIn = map[int]string{
	unix.SYS_FUTEX: "futex_do_wait",
	unix.SYS_WAIT4: "do_wait", unix.SYS_WAITID: "do_wait",
	unix.SYS_EPOLL_PWAIT: "do_epoll_wait", unix.SYS_EPOLL_PWAIT2: "do_epoll_wait",
	unix.SYS_PPOLL: "do_sys_poll", unix.SYS_PSELECT6: "do_select",
	unix.SYS_NANOSLEEP: "hrtimer_nanosleep", unix.SYS_CLOCK_NANOSLEEP: "hrtimer_nanosleep",
	unix.SYS_RT_SIGTIMEDWAIT: "do_sigtimedwait", unix.SYS_RT_SIGSUSPEND: "sigsuspend",
}
