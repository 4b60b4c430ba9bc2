package cni

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// newNamespace makes a network namespace; the file keeps it. It is made by a
// thread that goes back to its own afterwards, or ends where it can't.
func newNamespace() (*os.File, error) {
	type made struct {
		f   *os.File
		err error
	}
	c := make(chan made, 1)
	go func() {
		runtime.LockOSThread()
		f, back, err := unshare()
		if back {
			runtime.UnlockOSThread()
		}
		c <- made{f, err}
	}()
	m := <-c
	return m.f, m.err
}

// unshare must be called on a locked thread; back says that the thread is where
// it was.
func unshare() (f *os.File, back bool, err error) {
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, true, err
	}
	defer own.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, true, fmt.Errorf("making a network namespace: %w", err)
	}
	f, err = os.Open("/proc/thread-self/ns/net")
	back = unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil
	return f, back, err
}

// pathOf is the namespace of a file as other processes of ours and the
// daemon's can open it.
func pathOf(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }
