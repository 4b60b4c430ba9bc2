//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// TryLock takes a lock that the kernel drops when the process ends, however
// it ends, so that no stale lock can be left.
func TryLock(f *os.File) error { return flock(f, unix.LOCK_EX) }

// TryLook takes a lock that keeps no other looker out, only writers.
func TryLook(f *os.File) error { return flock(f, unix.LOCK_SH) }

func flock(f *os.File, how int) error {
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
