package trace

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// switchLog has each switch of a processor from one thread to another and each waking,
// as programs in the kernel (BPF) write them: much less than what the same takes as perf
// events, since nobody builds a record that a filter throws away, and where a thread waits is
// looked up when it is woken, from where it sleeps. It is attached only while a start is
// followed.
type switchLog struct {
	*slots
	kernel    *structures
	switching *ebpf.Program
	waking    *ebpf.Program
	links     []link.Link
}

// A slot of it, bytes: the time, who has the processor (thread and process), the other
// (the one that gets it, or that is woken), the state in which the one stops or who
// wakes, how much of each stack is filled, where in its program the woken thread is, which
// of the two events it is, and the system call in which that thread slept, or that the one
// which stops is in. The first stack is that of the woken thread; the second is that of the
// one that has the processor, where it stops for what no signal ends, or of the interrupt
// that wakes.
const (
	byAt      = 8
	processAt = 12
	otherAt   = 16
	marksAt   = 20
	asleepAt  = 24
	hereAt    = 28
	userAt    = 32
	kindAt    = 40
	callAt    = 44
	sleeperAt = 48
	stackAt   = sleeperAt + 8*sleeper

	switchSlot = stackAt + 8*here
)

// How many functions of a stack are kept: of a thread that sleeps the scheduler's own
// are left out, and of the processor's own some of ours come first.
const (
	sleeper = 6
	here    = maxStack + 4
)

// newSwitchLog is a log for the processors up to one, with room for so many events on
// each, a power of two. The error is of a kernel that does not take such programs.
func newSwitchLog(last int, size uint32, o Options) (*switchLog, error) {
	kernel, err := kernelStructures()
	if err != nil {
		return nil, err
	}
	room, err := newSlots(last, switchSlot, size)
	l := &switchLog{slots: room, kernel: kernel}
	if err == nil {
		l.switching, err = l.switchProgram(o)
	}
	if err == nil {
		l.waking, err = l.wakeProgram(o)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a program of the kernel that sees threads stop and go on: %w", err), l.Close())
	}
	return l, nil
}

// begin forgets what was there and records from now on.
func (l *switchLog) begin() error {
	l.forget()
	for _, p := range []*ebpf.Program{l.switching, l.waking} {
		at, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return errors.Join(fmt.Errorf("following the scheduler: %w", err), l.end())
		}
		l.links = append(l.links, at)
	}
	return nil
}

// end records no more.
func (l *switchLog) end() error { return detach(&l.links) }

// Close lets go of all of it; nothing is left in the kernel then.
func (l *switchLog) Close() error {
	return errors.Join(l.end(), l.switching.Close(), l.waking.Close(), l.slots.Close()) // closing a nil program does nothing
}

// switchEvent is one of them.
type switchEvent struct {
	at                  int64 // ns of CLOCK_MONOTONIC
	thread, process     int
	other               int
	wakes               bool
	call                int    // the system call in which the woken thread slept, -1: see its stack; of a switch the one that stops is in, -1: none
	marks               uint32 // the state of who stops, 0: it could go on; or who wakes
	user                uint64 // where in its program the woken thread is, 0: not known
	asleep, interrupted []uint64
}

func readSwitch(s []byte) switchEvent {
	word := func(at int) int { return int(int32(binary.NativeEndian.Uint32(s[at:]))) } //nolint:gosec // as the kernel has it
	return switchEvent{
		at:          int64(binary.NativeEndian.Uint64(s)), //nolint:gosec // a time
		thread:      word(byAt),
		process:     word(processAt),
		other:       word(otherAt),
		wakes:       word(kindAt) != 0,
		call:        word(callAt),
		marks:       binary.NativeEndian.Uint32(s[marksAt:]),
		user:        binary.NativeEndian.Uint64(s[userAt:]),
		asleep:      chain(s[sleeperAt:stackAt], word(asleepAt)),
		interrupted: chain(s[stackAt:], word(hereAt)),
	}
}

// chain reads a stack of so many bytes; the kernel gives a negative number for none.
func chain(s []byte, bytes int) []uint64 {
	var all []uint64
	for at := 0; at+8 <= min(bytes, len(s)); at += 8 {
		all = append(all, binary.NativeEndian.Uint64(s[at:]))
	}
	return all
}
