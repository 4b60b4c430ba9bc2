package enginetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// overflow is a program that ends by SIGSEGV, which the kernel forces on PID 1
// too, and says nothing.
var overflow = []string{"/bin/busybox", "sh", "-c", "ulimit -c 0; f() { f; }; f"}

// silent: a payload that ends before its first byte gives no proof, whether it
// was to be held or to be stopped; one that a signal ended has crashed.
func (s *suite) silent(t *testing.T) {
	env := s.busybox(t)
	for _, c := range []struct {
		argv []string
		want record.Class
	}{
		{[]string{"/bin/busybox", "true"}, record.NoProof},
		{[]string{"/bin/busybox", "sh", "-c", "exit 3"}, record.NoProof},
		{overflow, record.Crash},
	} {
		if c.want == record.Crash && s.opts.HidesSignals != "" {
			continue
		}
		task := s.tool(c.argv...)
		task.Stop = &engine.Stop{Grace: time.Second}
		if s.opts.Skip["stop handled"] == "" {
			res, err := env.Run(t.Context(), task)
			if err != nil || res.Failure == nil || res.Failure.Class != c.want {
				t.Errorf("stop of %q, which has ended: %v, %+v, want class %s", c.argv, err, res.Failure, c.want)
			}
		}
		h, ok := env.(engine.Holder)
		if !ok {
			continue
		}
		held, err := h.Hold(t.Context(), s.tool(c.argv...))
		if err == nil {
			_, _ = end(t, held, time.Second)
		}
		if got := class(err); got != c.want && got != record.Unsupported {
			t.Errorf("Hold of %q: %v (class %q), want class %s", c.argv, err, got, c.want)
		}
	}
}

// heldOutOfMemory: a held container that the kernel kills for want of memory
// says so at its end.
func (s *suite) heldOutOfMemory(t *testing.T) {
	switch {
	case s.env.Facts()["limits"] == "none":
		t.Skip("there is no limit here")
	case s.opts.Skip["out of memory"] != "":
		t.Skip(s.opts.Skip["out of memory"])
	case s.opts.HidesSignals != "":
		t.Skip(s.opts.HidesSignals)
	}
	h := s.hold(t, s.busybox(t), s.tool("/bin/busybox", "awk", `BEGIN { print "up"; fflush(); s = "x"; while (1) s = s s }`))
	select {
	case <-h.Ended():
	case <-time.After(s.opts.Limit):
		t.Fatal("it was not killed")
	}
	res, err := end(t, h, time.Second)
	if err != nil || res.Failure == nil || res.Failure.Class != record.OutOfMemory {
		t.Errorf("End: %v, failure %+v, exit %v, want class %s", err, res.Failure, show(res.Exit), record.OutOfMemory)
	}
}

// forgotten is tried on an environment of its own, which is closed by it.
const forgotten = "forgotten"

// forgotten: Close ends the held containers that their holder has not.
func (s *suite) forgotten(t *testing.T) {
	env, err := s.engine.Open(t.Context(), s.kit, s.spec)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	closed := false
	shut := func() error {
		closed = true
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), child.Stretch(endLimit))
		defer cancel()
		return env.Close(ctx)
	}
	defer func() {
		if !closed {
			_ = shut()
		}
	}()
	args := probe.PayloadArgs{Stay: true, OnTerm: "ignore"}
	h, err := holder(t, env).Hold(t.Context(), s.task(&args))
	if err != nil {
		t.Fatalf("Hold: %v", err)
	}
	if err := shut(); err != nil {
		t.Errorf("Close of what holds a container still: %v", err)
	}
	select {
	case <-h.Ended():
	case <-time.After(child.Stretch(5 * time.Second)):
		t.Error("Ended is not closed, and the environment is")
	}
	if pids := processesWith(args.Word); len(pids) > 0 && !s.simulated() {
		t.Errorf("the payload of a forgotten container still runs after Close: pids %v", pids)
	}
	if res, err := end(t, h, 0); errors.Is(err, context.DeadlineExceeded) || err == nil && res.Failure == nil {
		t.Errorf("End after Close: %v, %+v, want a failure: it was forgotten", err, res.Failure)
	}
}
