package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// TraceSamples names the file below samples/ that holds the trace of a trial.
const TraceSamples = "trace"

// traceVersion is the version of the format of a trace.
const traceVersion = 1

// Trace is the kernel's view of one start: which thread ran on which processor,
// what it called, where it waited and who woke it. Its first line is the head, then
// comes one line for each event, then the tail. What the events come to is derived
// when they are read.
type Trace struct {
	TraceHead
	Events []TraceEvent
	// Tail is nil where the file was cut off.
	Tail *TraceTail
	// Spans are those of the engine's own, where it was asked for them. No file has them.
	Spans []TraceSpan
}

// TraceSpan is a piece of work as the engine tells of it itself (OpenTelemetry).
type TraceSpan struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero where it has none
	Name       string
	Service    string // who tells of it: crio
	From, To   int64  // ns after the trace's From
	Failed     bool
}

// TraceHead says what was traced.
type TraceHead struct {
	Version int `json:"trace"`
	// What was started: an environment's id, or a command line.
	What string `json:"what"`
	// From and To bound what is explained, ns of CLOCK_MONOTONIC: the request and
	// the event named in Until.
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Until string `json:"until"`
	// Waiter is the thread that asked for the start, and that learnt of the event.
	// Where it is 0 the one of the processes Askers is meant that ran at To.
	Waiter int   `json:"waiter"`
	Askers []int `json:"askers,omitempty"`
	// Threads are those that were there before the first event.
	Threads []TraceThread `json:"threads,omitempty"`
	// Calls names the system calls by their number.
	Calls map[int]string `json:"calls,omitempty"`
	// Frames are the kernel functions that stacks point to.
	Frames []string `json:"frames,omitempty"`
}

// TraceThread is a thread that was there before the first event.
type TraceThread struct {
	ID      int `json:"id"`
	Process int `json:"process"`
	// Name is the thread's own, as the kernel has it; Command is its process's
	// command line without paths of programs and options.
	Name    string `json:"name"`
	Command string `json:"command,omitempty"`
	// Kernel: it is one of the kernel's own.
	Kernel bool `json:"kernel,omitempty"`
	// Stack points into Frames, innermost first: where it waited.
	Stack []int `json:"stack,omitempty"`
}

// TraceKind is what an event is.
type TraceKind string

// The events of a trace.
const (
	TraceSwitch TraceKind = "switch" // Thread left the processor to Other; State is what it then was
	TraceWake   TraceKind = "wake"   // Thread woke Other; in an interrupt it only happened to run
	TraceFork   TraceKind = "fork"   // Thread made Other; Process is Other's
	TraceExec   TraceKind = "exec"   // Thread executes the program Text ("": one without a name); it was Other before, if that is not 0
	TraceExit   TraceKind = "exit"   // Thread ended
	TraceEnter  TraceKind = "enter"  // Thread called the system call Call
	TraceLeave  TraceKind = "leave"  // and came back
	TraceCode   TraceKind = "code"   // when the clock ticked Thread was at Text: a system call, a part of its program
)

// TraceEvent is one event.
type TraceEvent struct {
	At      int64     `json:"t"` // ns after From; before it: negative
	CPU     int       `json:"c"`
	Kind    TraceKind `json:"k"`
	Thread  int       `json:"p"`
	Other   int       `json:"o,omitempty"`
	Process int       `json:"g,omitempty"`
	// Runnable, of a switch: the thread did not wait, another's turn came.
	Runnable bool `json:"r,omitempty"`
	// Interrupt, of a wake: an interrupt did it, not the thread that it interrupted.
	Interrupt bool `json:"i,omitempty"`
	// Soft: by a softirq, which may be that of what Thread itself sends.
	Soft bool `json:"s,omitempty"`
	// Call, of a switch: the system call that Thread is in, 0 where that is not known.
	Call int    `json:"n,omitempty"`
	Text string `json:"x,omitempty"`
	// Stack points into Frames, innermost first: where a thread waits.
	Stack []int `json:"f,omitempty"`
}

// TraceTail says what the tracing itself was like.
type TraceTail struct {
	// Lost is the number of events that the kernel had no room for.
	Lost int64 `json:"lost"`
}

// WriteTrace writes a trace as lines of JSON.
func WriteTrace(w io.Writer, t *Trace) error {
	b := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	head := t.TraceHead
	head.Version = traceVersion
	err := enc.Encode(head)
	for i := 0; err == nil && i < len(t.Events); i++ {
		err = enc.Encode(&t.Events[i])
	}
	if err == nil && t.Tail != nil {
		err = enc.Encode(t.Tail)
	}
	if err = errors.Join(err, b.Flush()); err != nil {
		return fmt.Errorf("writing a trace: %w", err)
	}
	return nil
}

// ReadTrace reads what WriteTrace wrote; name is for messages. A torn last line is
// left out. A trace of a newer version is refused.
func ReadTrace(in io.Reader, name string) (*Trace, error) {
	sc := newLineScanner(in, name)
	if !sc.next() {
		return nil, errors.Join(fmt.Errorf("%s: the head of a trace is missing", name), sc.err)
	}
	t := &Trace{}
	named := func(stack []int) error {
		for _, f := range stack {
			if f < 0 || f >= len(t.Frames) {
				return sc.damage(fmt.Errorf("a stack points to function %d of %d", f, len(t.Frames)))
			}
		}
		return nil
	}
	if err := json.Unmarshal(sc.line, &t.TraceHead); err != nil {
		return nil, sc.damage(err)
	}
	switch {
	case t.Version == 0:
		return nil, fmt.Errorf("%s: this is not the head of a trace", name)
	case t.Version > traceVersion:
		return nil, fmt.Errorf("%s: the trace has format %d, this Plimsoll reads up to %d: a newer one can read it", name, t.Version, traceVersion)
	case t.To < t.From:
		return nil, fmt.Errorf("%s: the trace ends before it begins", name)
	}
	for _, th := range t.Threads {
		if err := named(th.Stack); err != nil {
			return nil, err
		}
	}
	for sc.next() {
		var line struct {
			TraceEvent
			Lost *int64 `json:"lost"`
		}
		if err := json.Unmarshal(sc.line, &line); err != nil {
			return nil, sc.damage(err)
		}
		if line.Lost != nil {
			t.Tail = &TraceTail{Lost: *line.Lost}
			break
		}
		if err := named(line.Stack); err != nil {
			return nil, err
		}
		t.Events = append(t.Events, line.TraceEvent)
	}
	return t, sc.err
}
