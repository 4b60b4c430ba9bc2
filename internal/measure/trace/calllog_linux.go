package trace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// callLog has the beginning and the end of every system call, as programs in the kernel
// (BPF) write them: a fifth of what the same takes as perf events. It is attached only
// while a start is followed, since the kernel takes the slow way into each system call
// of each process as long as anybody looks.
type callLog struct {
	*slots
	enter, leave *ebpf.Program
	links        []link.Link
}

// A slot of it has the time, the thread and the number of the call, -1 at its end, bytes.
const (
	slotSize = 16
	threadAt = 8
	numberAt = 12
)

// newCallLog makes a log for the processors up to one, with room for so many calls on
// each, a power of two. The error is of a kernel that does not take such programs.
func newCallLog(last int, size uint32) (*callLog, error) {
	room, err := newSlots(last, slotSize, size)
	l := &callLog{slots: room}
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

// begin forgets what was there and records from now on.
func (l *callLog) begin() error {
	l.forget()
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
func (l *callLog) end() error { return detach(&l.links) }

// detach takes programs from what they are attached to.
func detach(links *[]link.Link) error {
	var errs []error
	for _, at := range *links {
		errs = append(errs, at.Close())
	}
	*links = nil
	return errors.Join(errs...)
}

// callEvent is the beginning of a system call, or with the number -1 its end.
type callEvent struct {
	at          int64 // ns of CLOCK_MONOTONIC
	cpu, thread int
	number      int
}

func readCall(cpu int, s []byte) callEvent {
	return callEvent{
		at:     int64(binary.NativeEndian.Uint64(s)), //nolint:gosec // a time
		cpu:    cpu,
		thread: int(binary.NativeEndian.Uint32(s[threadAt:])),
		number: int(int32(binary.NativeEndian.Uint32(s[numberAt:]))), //nolint:gosec // -1 too
	}
}

// Close lets go of all of it; nothing is left in the kernel then.
func (l *callLog) Close() error {
	return errors.Join(l.end(), l.enter.Close(), l.leave.Close(), l.slots.Close()) // closing a nil program does nothing
}
