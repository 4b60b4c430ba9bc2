package clirun

import "os"

// KillInside kills what is executed in the PID namespace of a process with this
// argument list: for engines that have no call that ends an execution. Under a
// kernel of the engine's own nothing is found, and such a program ends with its
// container.
func KillInside(pid int, argv []string) {
	found := Inside(pid, argv)
	if found == 0 {
		return
	}
	p, err := os.FindProcess(found) // by a pidfd, so that it can't become another one
	if err != nil {
		return
	}
	if Inside(pid, argv) == found {
		_ = p.Kill() // where it has not ended
	}
	_ = p.Release()
}
