package run

import (
	"os"
	"strings"
)

// place is where a process is, or was: anywhere else neither its number says
// anything, nor what it has set of the kernel.
type place struct {
	Boot string `json:"boot,omitempty"` // of the kernel
	// PIDs is the namespace in which the process has its number.
	PIDs string `json:"pid_namespace,omitempty"`
	Host string `json:"host,omitempty"` // its name, for people
}

// here is where we are. What can't be read is empty: /proc is there, else we had
// not come so far, but some sandboxes' has not all of it.
func here() place {
	text := func(path string) string {
		b, _ := os.ReadFile(path)
		return strings.TrimSpace(string(b))
	}
	pids, _ := os.Readlink("/proc/self/ns/pid")
	return place{Boot: text("/proc/sys/kernel/random/boot_id"), PIDs: pids, Host: text("/proc/sys/kernel/hostname")}
}

// booted says whether a place was this machine's before it was booted anew: by its
// name, which is all that stays.
func (p place) booted(now place) bool {
	return p.Boot != "" && now.Boot != "" && p.Boot != now.Boot && p.Host == now.Host
}

// foreign says whether a place is another machine's, as far as one can tell.
func (p place) foreign(now place) bool {
	return p.Boot != "" && now.Boot != "" && p.Boot != now.Boot && p.Host != now.Host
}
