// Package devnull opens a null device for the programs that Plimsoll starts.
//
// It is opinionated: a runtime may change the owner of the file that it gets as a standard
// stream (gVisor and crun give it to the container's user), and the machine's /dev/null
// must stay as it is, after a kill too. So programs get a device of this process' own.
package devnull

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Open returns the null device of this process, for reading and writing. It is the same
// for all callers, who must not close it.
//
// Where no own device can be made it is the machine's. That is without risk for an
// ordinary user, whose runtimes may not change it. Root is left with it on kernels before
// 5.2 and without CAP_SYS_ADMIN or CAP_MKNOD (a runtime may still have CAP_CHOWN): then
// the owner is put back from the run's ledger.
var Open = sync.OnceValues(func() (*os.File, error) {
	if fd, err := own(); err == nil {
		return os.NewFile(uintptr(fd), os.DevNull), nil
	}
	return os.OpenFile(os.DevNull, os.O_RDWR, 0)
})

// own makes a device in a tmpfs that is mounted nowhere, so that nothing of it is left
// when the last process that has it open has ended.
func own() (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	top, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(top)
	if err := unix.Mknodat(top, "null", unix.S_IFCHR, int(unix.Mkdev(1, 3))); err != nil {
		return -1, err
	}
	if err := unix.Fchmodat(top, "null", 0o666, 0); err != nil {
		return -1, err
	}
	return unix.Openat(top, "null", unix.O_RDWR|unix.O_CLOEXEC, 0)
}
