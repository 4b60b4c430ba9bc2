//go:build unix

package safepath

import "syscall"

const nonblock = syscall.O_NONBLOCK
