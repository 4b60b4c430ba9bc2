package run

import (
	"os"

	"plimsoll/internal/measure/host/proc"
)

// origin is where a process is, or was: anywhere else neither its number says
// anything, nor what it has set of the kernel.
type origin struct {
	Boot string `json:"boot,omitempty"` // of the kernel
	// PIDs is the namespace in which the process has its number.
	PIDs string `json:"pid_namespace,omitempty"`
	Host string `json:"host,omitempty"` // its name, for people
}

// here is where we are. What can't be read is empty: /proc is there, else we had
// not come so far, but some sandboxes' has not all of it.
func here() origin {
	boot, _ := proc.Here.Boot()
	pids, _ := os.Readlink("/proc/self/ns/pid")
	name, _ := os.Hostname()
	return origin{Boot: boot, PIDs: pids, Host: name}
}

// booted says whether it is this machine, before it was booted anew: by its
// name, which is all that stays.
func (o origin) booted(now origin) bool { return o.otherBoot(now) && o.Host == now.Host }

// foreign says whether it is another machine's, as far as one can tell.
func (o origin) foreign(now origin) bool { return o.otherBoot(now) && o.Host != now.Host }

// otherBoot says whether two kernels, of which both are known, are not the same.
func (o origin) otherBoot(now origin) bool {
	return o.Boot != "" && now.Boot != "" && o.Boot != now.Boot
}
