package trace

import "golang.org/x/sys/unix"

// What arm64 has in a newer form only.
func init() {
	for n, name := range map[int]string{
		unix.SYS_FORK: "fork", unix.SYS_VFORK: "vfork", unix.SYS_OPEN: "open", unix.SYS_POLL: "poll", unix.SYS_SELECT: "select",
		unix.SYS_EPOLL_WAIT: "epoll_wait", unix.SYS_MKDIR: "mkdir", unix.SYS_RMDIR: "rmdir", unix.SYS_UNLINK: "unlink",
		unix.SYS_RENAME: "rename", unix.SYS_ACCEPT: "accept",
	} {
		calls[n] = name
	}
	waitsIn[unix.SYS_EPOLL_WAIT], waitsIn[unix.SYS_POLL], waitsIn[unix.SYS_SELECT] = "do_epoll_wait", "do_sys_poll", "do_select"
}
