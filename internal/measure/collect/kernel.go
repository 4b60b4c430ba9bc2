//go:build linux

package collect

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	// errAbsent: this machine, or this container, has no such thing.
	errAbsent = errors.New("absent")
	// errGone: it was there and has ended, as things do at a trial's end.
	errGone = errors.New("it has ended")
	// errEmpty: the file holds nothing.
	errEmpty = errors.New("it is empty")
)

// absent says why there is no such thing.
func absent(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errAbsent, fmt.Sprintf(format, args...))
}

// scratch is the room for one file of the kernel's, shared by all readers of
// one thread.
const scratchSize = 64 << 10

// file is a file of the kernel's that stays open and is read again from its
// start: nothing is allocated, and no path is walked.
type file struct {
	fd   int
	name string
}

func openFile(name string) (file, error) {
	fd, err := openNow(name)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP):
		return file{fd: -1}, absent("there is no %s", name)
	case errors.Is(err, unix.ESRCH):
		return file{fd: -1}, errGone
	case err != nil:
		return file{fd: -1}, fmt.Errorf("opening %s: %w", name, err)
	}
	return file{fd: fd, name: name}, nil
}

// openNow opens one of the kernel's own files; Go's scheduler is not told, as
// in read.
func openNow(name string) (int, error) {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	at := unix.AT_FDCWD
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(p)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// linkNow reads a link; nil where there is none.
func linkNow(name string, buf []byte) []byte {
	p, err := unix.BytePtrFromString(name)
	if err != nil {
		return nil
	}
	at := unix.AT_FDCWD
	n, _, errno := unix.RawSyscall6(unix.SYS_READLINKAT, uintptr(at), uintptr(unsafe.Pointer(p)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return nil
	}
	return buf[:n]
}

// read gives the first bytes of the file, which lie in buf. It does not tell
// Go's scheduler of the system call, which is over in a microsecond or some:
// to be told of a hundred of them in each sample costs more than they do.
func (f file) read(buf []byte) ([]byte, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_PREAD64, uintptr(f.fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0)
	if errno != 0 {
		return nil, f.failure(errno)
	}
	return f.some(buf, int(n))
}

// readSlow is read for what may take a millisecond, or wait for a lock.
func (f file) readSlow(buf []byte) ([]byte, error) {
	n, err := unix.Pread(f.fd, buf, 0)
	if err != nil {
		return nil, f.failure(err)
	}
	return f.some(buf, n)
}

func (f file) some(buf []byte, n int) ([]byte, error) {
	if n == 0 {
		return nil, fmt.Errorf("reading %s: %w", f.name, errEmpty)
	}
	return buf[:n], nil
}

// pollNow gives the events that there are and does not wait; Go's scheduler is
// not told, as in read.
func pollNow(fd int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// readNow reads from a descriptor that does not make wait; 0 where there is
// nothing to read.
func readNow(fd int, b []byte) int {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0
	}
	return int(n)
}

// number reads a file that holds one number.
func (f file) number(buf []byte) (int64, error) {
	b, err := f.read(buf)
	if err != nil {
		return 0, err
	}
	n, _, ok := number(b)
	if !ok {
		return 0, f.odd(b)
	}
	return n, nil
}

func (f file) failure(err error) error {
	switch {
	// A control group that was removed gives ENODEV, a process that ended ESRCH.
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ESRCH), errors.Is(err, unix.ENOENT):
		return errGone
	// The kernel lists pressure files and can't serve them where it is off.
	case errors.Is(err, unix.EOPNOTSUPP):
		return absent("the kernel can't serve %s", f.name)
	}
	return fmt.Errorf("reading %s: %w", f.name, err)
}

func (f file) odd(b []byte) error {
	return fmt.Errorf("reading %s: %.60q is not understood", f.name, b)
}

func (f file) close() {
	if f.fd >= 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_CLOSE, uintptr(f.fd), 0, 0) // only read from
	}
}

// readOnce reads a file that must not stay open: what is open keeps a network
// namespace, or the memory's description of a process, alive.
func readOnce(name string, buf []byte) ([]byte, error) {
	return once(name, buf, file.read)
}

// readOnceSlow is readOnce for what may take a millisecond.
func readOnceSlow(name string, buf []byte) ([]byte, error) {
	return once(name, buf, file.readSlow)
}

func once(name string, buf []byte, read func(file, []byte) ([]byte, error)) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		if errors.Is(err, errAbsent) {
			return nil, errGone // a process's own file: the process has ended
		}
		return nil, err
	}
	defer f.close()
	return read(f, buf)
}

// epoch ties Go's monotonic clock, which is read without a system call, to
// CLOCK_MONOTONIC, which it is; only its zero is not told.
var epoch, epochNS = func() (time.Time, int64) {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // can't fail
	return time.Now(), ts.Nano()
}()

// now is CLOCK_MONOTONIC, ns, to a microsecond.
func now() int64 { return epochNS + int64(time.Since(epoch)) }

// The clocks of other processes; the kernel numbers them after the process:
// see clock_getcpuclockid(3) and the kernel's include/linux/posix-timers_types.h.
const clockSched = 2

// processCPU is the CPU time of a process and its threads that have ended, ns,
// without its children.
func processCPU(pid int) (int64, bool) { return clockOf(int32(^pid<<3 | clockSched)) }

// threadCPU is the CPU time of the calling thread, ns.
func threadCPU() int64 {
	n, _ := clockOf(unix.CLOCK_THREAD_CPUTIME_ID) // can't fail
	return n
}

func clockOf(id int32) (int64, bool) {
	var ts unix.Timespec
	_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano(), errno == 0
}

func isGone(err error) bool { return errors.Is(err, errGone) }
