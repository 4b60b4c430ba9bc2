package adapter

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Inside finds the process with an argument list in the PID namespace of
// another one: what an engine executes in a container and does not tell the
// pid of. 0 where there is none.
func Inside(pid int, argv []string) int {
	ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	if pid == 0 || err != nil {
		return 0
	}
	want := strings.Join(argv, "\x00") + "\x00"
	found := 0
	for n, line := range CommandLines() {
		if n == pid || string(line) != want {
			continue
		}
		// The lowest is the first that was made, but where numbers came round.
		if at, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", n)); err == nil && at == ns && (found == 0 || n < found) {
			found = n
		}
	}
	return found
}

// KillInside kills what is executed in the PID namespace of a process with this
// argument list: for engines that have no call that ends an execution. Under a
// kernel of the engine's own nothing is found, and such a program ends with its
// container.
func KillInside(pid int, argv []string) {
	found := Inside(pid, argv)
	SignalProcess(found, unix.SIGKILL, func() bool { return Inside(pid, argv) == found })
}
