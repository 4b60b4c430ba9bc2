package adapter

import "golang.org/x/sys/unix"

// KillInside kills what is executed in the PID namespace of a process with this
// argument list: for engines that have no call that ends an execution. Under a
// kernel of the engine's own nothing is found, and such a program ends with its
// container.
func KillInside(pid int, argv []string) {
	found := Inside(pid, argv)
	SignalProcess(found, unix.SIGKILL, func() bool { return Inside(pid, argv) == found })
}
