//go:build unix

package record

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked")

// tryLock takes a lock that the kernel drops when the process ends, however
// it ends, so that no stale lock can be left.
func tryLock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// tryLook takes a lock that keeps no other looker out, only writers.
func tryLook(f *os.File) error { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
