// Package filelock locks a file for as long as the process lives, however it ends: no
// stale lock can be left.
package filelock

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// ErrLocked is returned where another process has the lock.
var ErrLocked = errors.New("locked")

// Wait tries for a lock, by TryLock or TryLook, until it has it or ctx ends, whose error
// it returns then. There is no event for a lock that is let go of.
func Wait(ctx context.Context, f *os.File, try func(*os.File) error) error {
	for {
		if err := try(f); !errors.Is(err, ErrLocked) && !errors.Is(err, syscall.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
