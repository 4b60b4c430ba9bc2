// Package filelock locks a file for as long as the process lives, however it ends: no
// stale lock can be left.
package filelock

import "errors"

// ErrLocked is returned where another process has the lock.
var ErrLocked = errors.New("locked")
