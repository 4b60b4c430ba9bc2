//go:build linux

package collect

import (
	"errors"
	"fmt"

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
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
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

// read gives the first bytes of the file, which lie in buf.
func (f file) read(buf []byte) ([]byte, error) {
	n, err := unix.Pread(f.fd, buf, 0)
	if err != nil {
		return nil, f.failure(err)
	}
	if n == 0 {
		return nil, fmt.Errorf("reading %s: %w", f.name, errEmpty)
	}
	return buf[:n], nil
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
		_ = unix.Close(f.fd) // only read from
	}
}

// readOnce reads a file that must not stay open: what is open keeps a network
// namespace, or the memory's description of a process, alive.
func readOnce(name string, buf []byte) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		if errors.Is(err, errAbsent) {
			return nil, errGone // a process's own file: the process has ended
		}
		return nil, err
	}
	defer f.close()
	return f.read(buf)
}

// now is CLOCK_MONOTONIC, ns.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // can't fail
	return ts.Nano()
}

// The clocks of other processes and of our own threads; the kernel numbers
// them after the process: see clock_getcpuclockid(3) and the kernel's
// include/linux/posix-timers_types.h.
const (
	clockSched     = 2
	clockPerThread = 4
)

// processCPU is the CPU time of a process and its threads that have ended, ns,
// without its children.
func processCPU(pid int) (int64, bool) { return clockOf(int32(^pid<<3 | clockSched)) }

func threadCPU(tid int) (int64, bool) { return clockOf(int32(^tid<<3 | clockSched | clockPerThread)) }

func clockOf(id int32) (int64, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0, false
	}
	return ts.Nano(), true
}

func isGone(err error) bool { return errors.Is(err, errGone) }
