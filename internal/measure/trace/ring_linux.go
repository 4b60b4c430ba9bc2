package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is the buffer into which the kernel writes the events of one processor.
type ring struct {
	cpu  int
	fds  []int
	page *unix.PerfEventMmapPage
	all  []byte // the first page and the data
	data []byte
	lost int64
}

// want is one event to record.
type want struct {
	point tracepoint
	stack int // with so many functions of the kernel's stack
	// filter is what the event's fields must be like, as the kernel's documentation
	// writes it (Documentation/trace/events.rst); "": any.
	filter string
	wakes  bool // who waits for the buffer is woken by each event
	// clock: no tracepoint but ticks, with the program's own stack, and where
	// programs' files are mapped.
	clock bool
	// user: with where in its program the thread is.
	user bool
}

// instruction is the mask of the register that says where a program is
// (perf_regs.h of the architecture), 0 where it is not known.
var instruction = map[string]uint64{"amd64": 1 << 8, "arm64": 1 << 32}[runtime.GOARCH]

// newRing begins to record events of one processor, switched off. Size is in
// pages, a power of two.
func newRing(cpu, pages int, wants []want, ids map[uint64]int) (*ring, error) {
	r := &ring{cpu: cpu}
	for i, w := range wants {
		attr := unix.PerfEventAttr{
			Type:        unix.PERF_TYPE_TRACEPOINT,
			Config:      w.point.id,
			Size:        uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
			Sample:      1, // each event
			Sample_type: unix.PERF_SAMPLE_IDENTIFIER | unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_TIME | unix.PERF_SAMPLE_RAW,
			Bits:        unix.PerfBitDisabled | unix.PerfBitUseClockID | unix.PerfBitExcludeCallchainUser,
			Clockid:     unix.CLOCK_MONOTONIC,
		}
		if w.clock {
			attr.Type, attr.Config = unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK
			attr.Sample = ticks
			attr.Bits = unix.PerfBitDisabled | unix.PerfBitUseClockID | unix.PerfBitFreq | unix.PerfBitMmap | unix.PerfBitMmap2 | unix.PerfBitExcludeIdle
		}
		if w.stack > 0 {
			attr.Sample_type |= unix.PERF_SAMPLE_CALLCHAIN
			attr.Sample_max_stack = uint16(w.stack) //nolint:gosec // at most maxStack
		}
		if w.user && instruction != 0 {
			attr.Sample_type |= unix.PERF_SAMPLE_REGS_USER
			attr.Sample_regs_user = instruction
		}
		if w.wakes {
			attr.Wakeup = 1 // else by half a buffer
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("opening a perf event on processor %d: %w", cpu, err), r.Close())
		}
		r.fds = append(r.fds, fd)
		if err = filter(fd, w.filter); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if i == 0 {
			err = r.mmap(fd, pages)
		} else {
			err = unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, r.fds[0])
		}
		var id uint64
		if err == nil {
			id, err = idOf(fd)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("setting up a perf event on processor %d: %w", cpu, err), r.Close())
		}
		ids[id] = i
	}
	return r, nil
}

// ticks is how often a second it is looked at what a processor does: a tick costs
// some microseconds in a virtual machine, several starts add their ticks up, and it is
// no multiple of the kernel's own.
const ticks = 307

// maxStack is how many functions of a stack are kept.
const maxStack = 24

var pageSize = unix.Getpagesize()

func (r *ring) mmap(fd, pages int) error {
	b, err := unix.Mmap(fd, 0, (1+pages)*pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping its buffer: %w", err)
	}
	r.all, r.data = b, b[pageSize:]
	r.page = (*unix.PerfEventMmapPage)(unsafe.Pointer(&b[0]))
	return nil
}

// errNoFilter is returned where the kernel takes no filter, or not this one.
var errNoFilter = errors.New("the kernel does not filter a tracepoint's events")

func filter(fd int, text string) error {
	if text == "" {
		return nil
	}
	b, err := unix.BytePtrFromString(text)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_SET_FILTER, uintptr(unsafe.Pointer(b))); errno != 0 {
		return fmt.Errorf("%w: %w", errNoFilter, errno)
	}
	return nil
}

func idOf(fd int) (uint64, error) {
	var id uint64
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&id))); errno != 0 {
		return 0, errno
	}
	return id, nil
}

func (r *ring) enable(on bool) error {
	op := uint(unix.PERF_EVENT_IOC_DISABLE)
	if on {
		op = unix.PERF_EVENT_IOC_ENABLE
	}
	for _, fd := range r.fds {
		if err := unix.IoctlSetInt(fd, op, 0); err != nil {
			return err
		}
	}
	return nil
}

// skip forgets what is in the buffer.
func (r *ring) skip() {
	r.lost = 0
	atomic.StoreUint64(&r.page.Data_tail, atomic.LoadUint64(&r.page.Data_head))
}

// filled is the share of the buffer that waits to be read.
func (r *ring) filled() float64 {
	return float64(atomic.LoadUint64(&r.page.Data_head)-r.page.Data_tail) / float64(len(r.data))
}

// sample is one event as the kernel wrote it.
type sample struct {
	event     int // which of the wants
	pid, tid  int
	at        int64 // ns of CLOCK_MONOTONIC
	cpu       int
	raw       []byte
	callchain []uint64
	user      uint64 // where in its program the thread is, 0: not known
}

// drain gives what is in the buffer to take, and makes room.
func (r *ring) drain(wants []want, ids map[uint64]int, take func(sample), mapped func(mapping)) {
	head := atomic.LoadUint64(&r.page.Data_head)
	tail := r.page.Data_tail
	size := uint64(len(r.data))
	var joined []byte
	for head-tail >= 8 {
		at := tail % size
		n := uint64(binary.NativeEndian.Uint16(r.data[at+6:]))
		if n < 8 || n > head-tail {
			break
		}
		rec := r.data[at:min(at+n, size)]
		if at+n > size {
			joined = append(append(joined[:0], rec...), r.data[:at+n-size]...)
			rec = joined
		}
		switch binary.NativeEndian.Uint32(rec) {
		case unix.PERF_RECORD_LOST:
			if len(rec) >= 24 {
				r.lost += int64(binary.NativeEndian.Uint64(rec[16:]))
			}
		case unix.PERF_RECORD_MMAP2:
			if m, ok := parseMapping(rec[8:]); ok {
				mapped(m)
			}
		case unix.PERF_RECORD_SAMPLE:
			if s, ok := parseSample(rec[8:], wants, ids); ok {
				take(s)
			}
		}
		tail += n
	}
	atomic.StoreUint64(&r.page.Data_tail, tail)
}

// parseSample reads a sample (perf_event_open(2), "PERF_RECORD_SAMPLE"); raw stays
// in the buffer.
func parseSample(b []byte, wants []want, ids map[uint64]int) (sample, bool) {
	if len(b) < 24 {
		return sample{}, false
	}
	i, ok := ids[binary.NativeEndian.Uint64(b)]
	if !ok {
		return sample{}, false
	}
	s := sample{event: i, pid: int(int32(binary.NativeEndian.Uint32(b[8:]))), tid: int(int32(binary.NativeEndian.Uint32(b[12:]))), at: int64(binary.NativeEndian.Uint64(b[16:]))}
	b = b[24:]
	if wants[i].stack > 0 {
		if len(b) < 8 {
			return s, false
		}
		n := binary.NativeEndian.Uint64(b)
		b = b[8:]
		if n > uint64(len(b)/8) {
			return s, false
		}
		for k := range n {
			if ip := binary.NativeEndian.Uint64(b[8*k:]); ip < perfContextMax {
				s.callchain = append(s.callchain, ip)
			}
		}
		b = b[8*n:]
	}
	if len(b) < 4 {
		return s, false
	}
	n := binary.NativeEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return s, false
	}
	s.raw = b[4 : 4+n]
	if b = b[4+n:]; wants[i].user && len(b) >= 16 && binary.NativeEndian.Uint64(b) != 0 {
		s.user = binary.NativeEndian.Uint64(b[8:])
	}
	return s, true
}

// perfContextMax is the least of the marks between a stack's parts (kernel, user).
const perfContextMax = ^uint64(0) - 4095 + 1

func (r *ring) Close() error {
	var errs []error
	for _, fd := range r.fds {
		errs = append(errs, unix.Close(fd))
	}
	r.fds = nil
	if r.all != nil {
		errs = append(errs, unix.Munmap(r.all))
		r.all = nil
	}
	return errors.Join(errs...)
}
