package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// execLog has each execution of a program with its command line, as a program in the
// kernel (BPF) copies it out of the process at that moment. Nobody is woken for it, and a
// process that is over at once has told it all the same. It is attached only while a
// start is followed.
type execLog struct {
	*slots
	program *ebpf.Program
	links   []link.Link
}

// A slot of it, bytes: the time, the thread, the one that had executed the program (which
// gives its number up if it is not its process's first), how long the command line is and
// how many bytes of it could be copied (0, or all that there is room for), and the path of
// the program's file.
const (
	execThreadAt = 8
	execOldAt    = 12
	lengthAt     = 16
	copiedAt     = 24
	pathLenAt    = 28
	pathAt       = 32
	lineAt       = pathAt + pathRoom

	pathRoom = 256
	lineRoom = 1024
	execSlot = lineAt + lineRoom
)

// newExecLog is a log for the processors up to one, with room for so many executions on
// each, a power of two. The error is of a kernel that does not take such a program.
func newExecLog(last int, size uint32) (*execLog, error) {
	kernel, err := kernelLines()
	if err != nil {
		return nil, err
	}
	room, err := newSlots(last, execSlot, size)
	l := &execLog{slots: room}
	if err == nil {
		l.program, err = l.execProgram(kernel)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a program of the kernel that sees programs executed: %w", err), l.Close())
	}
	return l, nil
}

// begin forgets what was there and records from now on.
func (l *execLog) begin() error {
	l.forget()
	at, err := link.AttachTracing(link.TracingOptions{Program: l.program})
	if err != nil {
		return fmt.Errorf("following executions: %w", err)
	}
	l.links = append(l.links, at)
	return nil
}

// end records no more.
func (l *execLog) end() error { return detach(&l.links) }

// Close lets go of all of it; nothing is left in the kernel then.
func (l *execLog) Close() error {
	return errors.Join(l.end(), l.program.Close(), l.slots.Close()) // closing a nil program does nothing
}

// execEvent is one execution.
type execEvent struct {
	at          int64 // ns of CLOCK_MONOTONIC
	thread, old int
	path        string // "": longer than there is room for
	argv        []string
	cut         bool // the command line is longer than argv
}

func readExec(s []byte) execEvent {
	word := func(at int) int { return int(int32(binary.NativeEndian.Uint32(s[at:]))) } //nolint:gosec // as the kernel has it
	e := execEvent{
		at:     int64(binary.NativeEndian.Uint64(s)), //nolint:gosec // a time
		thread: word(execThreadAt),
		old:    word(execOldAt),
	}
	// The length counts the byte 0 at its end.
	if n := word(pathLenAt); n > 0 && n < pathRoom {
		e.path = string(s[pathAt:][:n-1])
	}
	line := s[lineAt:][:min(max(word(copiedAt), 0), lineRoom)]
	if e.cut = binary.NativeEndian.Uint64(s[lengthAt:]) > uint64(len(line)) && len(line) > 0; e.cut {
		whole := bytes.LastIndexByte(line, 0)
		if whole < 0 {
			return e // not even its first word
		}
		line = line[:whole]
	}
	if len(line) > 0 {
		e.argv = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	return e
}

// called is what the process is called from then on, "" where nothing says it.
func (e execEvent) called() string {
	if len(e.argv) == 0 || e.argv[0] == "" {
		return fileName(e.path)
	}
	name := command(e.argv)
	if e.cut && !strings.Contains(name, " ") {
		return name + " …" // what it is told to do may stand behind
	}
	return name
}
