package adapter

import (
	"os"
	"strings"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// HostState is what the inside is compared with.
type HostState struct {
	Kernel  string // uname release and version
	Net     string // inode of our network namespace
	Seccomp string // our own mode
}

// HostNow reads it.
func HostNow() HostState {
	var h HostState
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Version[:])
	}
	if link, err := os.Readlink("/proc/self/ns/net"); err == nil {
		h.Net = strings.TrimSuffix(strings.TrimPrefix(link, "net:["), "]")
	}
	status, _ := proc.Here.Status(proc.Self)
	h.Seccomp = status["Seccomp"]
	return h
}
