//go:build unix

package probe

import "syscall"

// ownSession starts a program in a session of its own.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
