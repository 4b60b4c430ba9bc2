//go:build unix

package safepath

import (
	"os"
	"runtime"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// waitForWriter makes reads of an open pipe wait for its writer. On Linux they do: Go's
// poller waits there for named pipes too, and on other systems for none.
func waitForWriter(pipe *os.File) error {
	if runtime.GOOS == "linux" {
		return nil
	}
	return syscall.SetNonblock(int(pipe.Fd()), false)
}
