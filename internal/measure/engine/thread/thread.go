// Package thread calls functions on a thread of their own: one that may change
// its namespaces, or give up root's power, without anybody else being in them.
//
// It is opinionated: where root has to do something for an ordinary user, in a
// directory of that one's or to a process of that one's, it does so with that
// one's rights, so that the kernel decides and no check of ours can be
// overtaken.
package thread

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host/proc"
)

// Own calls f on a thread that ends with it.
//
// The main thread can't end, and /proc/self is its: where the goroutine comes
// to lie on it, another is taken.
func Own(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- Own(f)
			runtime.UnlockOSThread()
			return
		}
		done <- f() // the thread stays locked, and so ends with this goroutine
	}()
	return <-done
}

// Kept is a thread that stays until Close, for calls that must be made on the same one.
type Kept struct{ calls chan func() }

// Keep starts such a thread.
func Keep() *Kept {
	k := &Kept{calls: make(chan func())}
	go func() {
		_ = Own(func() error { // each call has its own error
			for f := range k.calls {
				f()
			}
			return nil
		})
	}()
	return k
}

// Do calls f on the thread, after the calls before it, and returns f's error.
func (k *Kept) Do(f func() error) error {
	done := make(chan error, 1)
	k.calls <- func() { done <- f() }
	return <-done
}

// Close ends the thread; Do must not be called any more.
func (k *Kept) Close() { close(k.calls) }

// Unshare moves the calling thread into a mount namespace of its own, and into other new
// namespaces by their flags. The thread sees the mounts that the host makes or undoes
// later, where the host shares its mounts; the host sees none of the thread's. Mounts at
// whose path drop returns true are left out: a copy in a long-lived namespace would keep
// their devices busy.
func Unshare(flags int, drop func(path string) bool) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | flags); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keeping mounts from the host: %w", err)
	}
	mounts, err := proc.Here.Mounts(proc.Thread)
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounts) {
		if !drop(m.Mountpoint) {
			continue
		}
		if err := unix.Unmount(m.Mountpoint, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("letting go of %s: %w", m.Mountpoint, err)
		}
	}
	return nil
}

// As calls f with the rights of a user and none of root's: on a thread of its
// own, since the kernel keeps credentials for each thread. Whoever is not root
// has no other rights than its own, and f is called with these. f must not
// start goroutines that need the rights.
func As(uid, gid int, groups []int, f func() error) error {
	if os.Geteuid() != 0 || uid == 0 {
		return f()
	}
	return Own(func() error {
		if err := become(uid, gid, groups); err != nil {
			return fmt.Errorf("taking the rights of the user %d: %w", uid, err)
		}
		return f()
	})
}

// become changes the credentials of the calling thread: by system calls of our
// own, since those of the library change them for the whole process.
//
// The saved id stays root's. It gives no right, and keeps the user from tracing
// the thread, whose memory is the whole process's: ptrace(2) wants all three
// ids to match.
func become(uid, gid int, groups []int) error {
	ids := make([]uint32, 0, len(groups)+1)
	for _, g := range groups {
		ids = append(ids, uint32(g))
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(ids)), uintptr(unsafe.Pointer(unsafe.SliceData(ids))), 0); e != 0 {
		return fmt.Errorf("setgroups: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)); e != 0 {
		return fmt.Errorf("setresgid: %w", e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), 0); e != 0 {
		return fmt.Errorf("setresuid: %w", e)
	}
	// With unusual secure bits the kernel would leave the capabilities.
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&head, &caps[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	if caps[0].Effective|caps[1].Effective != 0 {
		return errors.New("the kernel leaves capabilities")
	}
	return nil
}
