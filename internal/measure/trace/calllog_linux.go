package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// callLog has the beginning and the end of every system call, as programs in the kernel
// (BPF) write them: a fifth of what the same takes as perf events. It is attached only
// while a start is followed, since the kernel takes the slow way into each system call
// of each process as long as anybody looks.
type callLog struct {
	heads, slots *ebpf.Map
	enter, leave *ebpf.Program
	head, slot   []byte // what the maps hold, a part for each processor
	size         uint64 // slots of a processor, a power of two
	links        []link.Link
}

// How the maps are laid out, bytes. A head says how many calls were written, how many
// found no room and how many were read; it has a line of the cache to itself. A slot
// has the time, the thread and the number of the call, -1 at its end.
const (
	headSize = 64
	lostAt   = 8
	readAt   = 16

	slotSize = 16
	threadAt = 8
	numberAt = 12
)

// newCallLog makes a log for the processors up to one, with room for so many calls on
// each, a power of two. The error is of a kernel that does not take such programs.
func newCallLog(last int, size uint32) (*callLog, error) {
	l := &callLog{size: uint64(size)}
	cpus := uint32(last) + 1 //nolint:gosec // a processor's number
	var err error
	if l.heads, l.head, err = sharedArray(headSize, cpus); err == nil {
		l.slots, l.slot, err = sharedArray(slotSize, cpus*size)
	}
	if err == nil {
		l.enter, err = l.program(true)
	}
	if err == nil {
		l.leave, err = l.program(false)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a program of the kernel that sees system calls: %w", err), l.Close())
	}
	return l, nil
}

// sharedArray is an array that programs in the kernel write and we read in place.
func sharedArray(value, entries uint32) (*ebpf.Map, []byte, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: value, MaxEntries: entries, Flags: unix.BPF_F_MMAPABLE})
	if err != nil {
		return nil, nil, err
	}
	bytes := (int(value)*int(entries) + pageSize - 1) &^ (pageSize - 1)
	b, err := unix.Mmap(m.FD(), 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("mapping an array of the kernel: %w", err), m.Close())
	}
	return m, b, nil
}

// begin forgets what was there and records from now on.
func (l *callLog) begin() error {
	clear(l.head)
	for name, p := range map[string]*ebpf.Program{"sys_enter": l.enter, "sys_exit": l.leave} {
		at, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p})
		if err != nil {
			return errors.Join(fmt.Errorf("following %s: %w", name, err), l.end())
		}
		l.links = append(l.links, at)
	}
	return nil
}

// end records no more.
func (l *callLog) end() error {
	var errs []error
	for _, at := range l.links {
		errs = append(errs, at.Close())
	}
	l.links = nil
	return errors.Join(errs...)
}

// callEvent is the beginning of a system call, or with the number -1 its end.
type callEvent struct {
	at          int64 // ns of CLOCK_MONOTONIC
	cpu, thread int
	number      int
}

// drain gives what was written by processors whose part is fuller than a share.
func (l *callLog) drain(full float64, take func(callEvent)) {
	for cpu := range len(l.slot) / slotSize / int(l.size) { //nolint:gosec // at most 2^31
		written, read := l.counter(cpu, 0), l.counter(cpu, readAt)
		end, from := atomic.LoadUint64(written), *read
		if float64(end-from) < full*float64(l.size) {
			continue
		}
		for ; from < end; from++ {
			at := uint64(cpu)*l.size + from&(l.size-1) //nolint:gosec // as above
			s := l.slot[at*slotSize:][:slotSize]
			take(callEvent{
				at:     int64(binary.NativeEndian.Uint64(s)), //nolint:gosec // a time
				cpu:    cpu,
				thread: int(binary.NativeEndian.Uint32(s[threadAt:])),
				number: int(int32(binary.NativeEndian.Uint32(s[numberAt:]))), //nolint:gosec // -1 too
			})
		}
		atomic.StoreUint64(read, end)
	}
}

// lost is how many calls found no room, beginnings and ends.
func (l *callLog) lost() (n int64) {
	for cpu := range len(l.slot) / slotSize / int(l.size) { //nolint:gosec // at most 2^31
		n += int64(*l.counter(cpu, lostAt)) //nolint:gosec // a number of calls
	}
	return n
}

func (l *callLog) counter(cpu, at int) *uint64 {
	return (*uint64)(unsafe.Pointer(&l.head[cpu*headSize+at]))
}

// Close lets go of all of it; nothing is left in the kernel then.
func (l *callLog) Close() error {
	errs := []error{l.end()}
	for _, b := range [][]byte{l.head, l.slot} {
		if b != nil {
			errs = append(errs, unix.Munmap(b))
		}
	}
	l.head, l.slot = nil, nil
	// Closing a nil map or program does nothing.
	return errors.Join(append(errs, l.heads.Close(), l.slots.Close(), l.enter.Close(), l.leave.Close())...)
}
