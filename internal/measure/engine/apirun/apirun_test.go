package apirun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// engineOf is an engine whose containers do as course says.
type engineOf struct {
	course  course
	inner   course // of a program inside
	there   map[string]bool
	gone    error // Ping's answer
	refuses error // Remove's
	stays   bool  // after Down
	pings   int
	entries []string
}

// course is what a container does.
type course struct {
	says    string        // on stdout, before it ends
	ends    bool          // by itself
	lasts   time.Duration // of the output beyond the answer
	status  int
	oom     bool
	upFails error
	late    bool // it is made when nobody waits for it any more
}

type made struct {
	Life
	e    *engineOf
	quit chan struct{}
}

func (e *engineOf) Ping(context.Context) error { e.pings++; return e.gone }
func (e *engineOf) Thing(t engine.Task) *engine.Thing {
	return &engine.Thing{Kind: engine.KindContainer, Name: t.Name}
}
func (e *engineOf) Prepare(_ context.Context, t engine.Task) (Container, *record.Failure) {
	return &made{Life: NewLife(t), e: e, quit: make(chan struct{})}, nil
}
func (e *engineOf) Remove(_ context.Context, t engine.Task) error {
	if e.refuses == nil {
		delete(e.there, t.Name)
	}
	return e.refuses
}
func (e *engineOf) Failure(what string, err error) *record.Failure {
	return &record.Failure{Class: record.EngineError, Text: what + ": " + err.Error()}
}
func (e *engineOf) Remains(_ context.Context, t engine.Task) (bool, error) {
	return e.there[t.Name], nil
}

// Made, Gone and Left make it the ledger too.
func (e *engineOf) Made(t engine.Thing) error { e.entries = append(e.entries, t.Name); return nil }
func (e *engineOf) Gone(t engine.Thing) error {
	e.entries = slices.DeleteFunc(e.entries, func(n string) bool { return n == t.Name })
	return nil
}
func (e *engineOf) Left() []engine.Thing { return nil }

func (m *made) Up(ctx, _ context.Context) error {
	m.Phase("starting the container")
	m.Res.Events[record.Request] = stamp.Now()
	if m.e.course.late {
		<-ctx.Done()
		return ctx.Err()
	}
	m.e.there[m.Task.Name] = true
	if m.e.course.upFails != nil {
		return m.e.course.upFails
	}
	m.Res.Events[record.Created] = stamp.Now()
	m.Drain = &Drain{Done: make(chan struct{})}
	m.End = NewEnd()
	go func() {
		_, _ = m.Stdout.Write([]byte(m.e.course.says))
		if !m.e.course.ends {
			<-m.quit
		}
		m.End.Tell(stamp.Now(), m.e.course.status, nil)
		time.Sleep(m.e.course.lasts)
		m.Drain.At = stamp.Now()
		close(m.Drain.Done)
	}()
	return nil
}
func (m *made) Release(context.Context) *record.Failure {
	close(m.quit)
	if m.e.course.late {
		m.e.there[m.Task.Name] = true
	}
	return nil
}
func (m *made) Stop(context.Context, engine.Stop) error { return nil }
func (m *made) Down(context.Context) error {
	if !m.e.stays {
		delete(m.e.there, m.Task.Name)
	}
	return nil
}
func (m *made) OOM(context.Context) bool                    { return m.e.course.oom }
func (m *made) Place(context.Context) (engine.Place, error) { return engine.Place{}, nil }
func (m *made) Program(t engine.Task, _ engine.Place) (Process, *record.Failure) {
	if len(t.Env) > 0 {
		return nil, &record.Failure{Class: record.Unsupported, Text: "no environment"}
	}
	inner := *m.e
	inner.course, inner.there = m.e.inner, map[string]bool{}
	return &made{Life: NewLife(t), e: &inner, quit: make(chan struct{})}, nil
}

func baseOf(c course) (*Base, *engineOf) {
	e := &engineOf{course: c, there: map[string]bool{}}
	return NewBase(e, e), e
}

func task() engine.Task { return engine.Task{Name: "one", Limit: 30 * time.Second} }

// brief is one whose time runs out: only what is to wait for that may take it.
func brief() engine.Task { return engine.Task{Name: "one", Limit: 200 * time.Millisecond} }

// What came of a trial, by what its container did.
func TestOutcome(t *testing.T) {
	stop := &engine.Stop{}
	for _, c := range []struct {
		name   string
		course course
		stop   *engine.Stop
		class  record.Class
		text   string
	}{
		{"well", course{says: "x", ends: true, status: 7}, nil, "", ""},
		{"silent and stopped", course{ends: true}, stop, record.NoProof, "the payload ended before its first byte, with status 0"},
		{"silent by a signal", course{ends: true, status: 139}, stop, record.Crash, "signal 11"},
		{"silent for want of memory", course{ends: true, status: 137, oom: true}, stop, record.OutOfMemory, "want of memory"},
		{"killed", course{says: "x", ends: true, status: 137}, nil, record.Crash, "signal 9"},
		{"killed on purpose", course{says: "x", ends: true, status: 137, oom: true}, stop, "", ""},
		{"killed for want of memory", course{says: "x", ends: true, status: 137, oom: true}, nil, record.OutOfMemory, "want of memory"},
		{"hangs", course{says: "x"}, nil, record.TimeOut, "did not end within 200ms and was killed, while waiting for the container's end"},
		{"refused", course{upFails: errors.New("no")}, nil, record.EngineError, "starting the container: no"},
	} {
		b, e := baseOf(c.course)
		w := task()
		if c.class == record.TimeOut {
			w = brief()
		}
		w.Stop = c.stop
		res, err := b.Run(t.Context(), w)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var f record.Failure
		if res.Failure != nil {
			f = *res.Failure
		}
		if f.Class != c.class || !strings.Contains(f.Text, c.text) {
			t.Errorf("%s: %+v, want class %q and %q", c.name, f, c.class, c.text)
		}
		if len(e.there) > 0 || len(e.entries) > 0 {
			t.Errorf("%s: still there %v, in the ledger %v", c.name, e.there, e.entries)
		}
	}
}

// The event exit is when all of the output is here, and the answer a step.
func TestExit(t *testing.T) {
	b, _ := baseOf(course{says: "x", ends: true, lasts: 30 * time.Millisecond})
	res, err := b.Run(t.Context(), task())
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v", err, res.Failure)
	}
	i := slices.IndexFunc(res.Steps, func(s record.Step) bool { return s.Name == "waited" })
	if i < 0 || res.Events[record.Exit]-res.Steps[i].At < int64(20*time.Millisecond) || res.Events[record.Removed] < res.Events[record.Exit] {
		t.Errorf("%v, %v", res.Events, res.Steps)
	}
}

// What can't be removed is before the next trial, and stays in the ledger.
func TestLeft(t *testing.T) {
	b, e := baseOf(course{says: "x"})
	e.refuses = &engine.Error{Class: record.Unavailable, Text: "gone"}
	res, err := b.Run(t.Context(), brief())
	if err != nil || res.Failure == nil || !strings.HasSuffix(res.Failure.Text, "; the container is removed when the daemon is back") || len(e.entries) != 1 {
		t.Fatalf("%v, %+v, in the ledger %v", err, res.Failure, e.entries)
	}
	two := task()
	two.Name, e.gone = "two", e.refuses
	if res, err = b.Run(t.Context(), two); err != nil || res.Failure == nil || res.Failure.Class != record.Unavailable {
		t.Errorf("%v, %+v", err, res.Failure)
	}
	e.gone, e.refuses, e.course.ends = nil, nil, true
	if res, err = b.Run(t.Context(), two); err != nil || res.Failure != nil || len(e.there) > 0 || len(e.entries) > 0 {
		t.Errorf("%v, %+v, still there %v, in the ledger %v", err, res.Failure, e.there, e.entries)
	}
	e.stays = true
	if res, err = b.Run(t.Context(), two); err != nil || res.Failure == nil || res.Failure.Class != record.UncleanEnd || len(e.there) > 0 || len(e.entries) > 0 {
		t.Errorf("%v, %+v, still there %v, in the ledger %v", err, res.Failure, e.there, e.entries)
	}
	pings := e.pings
	two.Checked, e.stays = true, false
	if res, err = b.Run(t.Context(), two); err != nil || res.Failure != nil || e.pings != pings {
		t.Errorf("%v, %+v, asked %d times", err, res.Failure, e.pings-pings)
	}
}

// What an engine makes after its request was broken off is removed before the
// next trial, or at the end.
func TestMadeLate(t *testing.T) {
	for name, end := range map[string]func(b *Base) error{
		"next trial": func(b *Base) error {
			if f := b.Ready(t.Context()); f != nil {
				return errors.New(f.Text)
			}
			return nil
		},
		"close": func(b *Base) error { return b.Close(t.Context()) },
	} {
		b, e := baseOf(course{late: true})
		if res, err := b.Run(t.Context(), brief()); err != nil || res.Failure == nil || res.Failure.Class != record.TimeOut {
			t.Fatalf("%s: %v, %+v", name, err, res.Failure)
		}
		if !e.there["one"] || len(e.entries) != 1 {
			t.Errorf("%s: there %v, in the ledger %v", name, e.there, e.entries)
		}
		if err := end(b); err != nil || e.there["one"] || len(e.entries) > 0 {
			t.Errorf("%s: %v, there %v, in the ledger %v", name, err, e.there, e.entries)
		}
	}
}

// A container that is held and forgotten goes when the environment is closed,
// and one that was not ready is gone at once.
func TestHold(t *testing.T) {
	b, e := baseOf(course{says: "x"})
	h, err := b.Hold(t.Context(), task())
	if err != nil || len(e.there) != 1 {
		t.Fatalf("%v, there %v", err, e.there)
	}
	require.NoError(t, b.AdmitHeld(t.Context(), engine.Task{Name: "by commands"}))
	if err := b.Close(t.Context()); err != nil || len(e.there) > 0 || len(e.entries) > 0 {
		t.Errorf("%v, still there %v, in the ledger %v", err, e.there, e.entries)
	}
	select {
	case <-h.Ended():
	default:
		t.Error("Ended is not closed")
	}
	if res, err := h.End(t.Context(), engine.Stop{}); err != nil || res.Failure == nil || !strings.Contains(res.Failure.Text, errForgotten.Error()) {
		t.Errorf("%v, %+v", err, res.Failure)
	}
	// An engine that knows the limit may say first that it is over, and say no more.
	for _, c := range []course{{}, {upFails: &engine.Error{Class: record.TimeOut, Text: "stream terminated"}}} {
		b, e = baseOf(c)
		_, err = b.Hold(t.Context(), brief())
		var why *engine.Error
		if !errors.As(err, &why) || why.Class != record.TimeOut || !strings.HasPrefix(why.Text, "holding one: was not ready within 200ms and was killed, while") || len(e.there) > 0 {
			t.Errorf("%+v: %v, still there %v", c, err, e.there)
		}
		// Where it broke off before there was an answer the container may come late.
		if kept := len(e.entries) > 0; kept != (c.upFails != nil) {
			t.Errorf("%+v: in the ledger %v", c, e.entries)
		}
		if err := b.Close(t.Context()); err != nil || len(e.entries) > 0 {
			t.Errorf("%+v: %v, still in the ledger %v", c, err, e.entries)
		}
	}
}

// What came of one more program inside, and the container stays.
func TestExec(t *testing.T) {
	b, e := baseOf(course{says: "x"})
	h, err := b.Hold(t.Context(), task())
	require.NoError(t, err)
	for _, c := range []struct {
		inner course
		env   []string
		class record.Class
	}{
		{course{says: "y", ends: true, status: 7}, nil, ""},
		{course{says: "y"}, nil, record.TimeOut},
		{course{ends: true, status: 137, oom: true}, nil, record.OutOfMemory},
		{course{ends: true, status: 137}, nil, record.Crash},
		{course{}, []string{"K=v"}, record.Unsupported},
	} {
		e.inner = c.inner
		x := engine.Task{Name: "inner", Limit: task().Limit, Env: c.env, Argv: []string{"/no/such/program"}}
		if c.class == record.TimeOut {
			x.Limit = brief().Limit
		}
		res, err := h.(engine.Executor).Exec(t.Context(), x)
		var class record.Class
		if res.Failure != nil {
			class = res.Failure.Class
		}
		if err != nil || class != c.class {
			t.Errorf("%+v: %v, %+v, want class %q", c.inner, err, res.Failure, c.class)
		}
		if c.class == "" && (*res.Exit != 7 || string(res.Stdout) != "y" || res.Events[record.Ready] == 0 || res.Events[record.Exit] == 0) {
			t.Errorf("%+v", res)
		}
	}
	if closed(h.Ended()) || len(e.there) != 1 {
		t.Errorf("the container has ended with a program in it; there %v", e.there)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
