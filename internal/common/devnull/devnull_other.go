//go:build !linux

// Package devnull opens the null device for the programs that Plimsoll starts.
package devnull

import (
	"os"
	"sync"
)

// Open returns the null device, for reading and writing. It is the same for all callers,
// who must not close it.
var Open = sync.OnceValues(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) })
