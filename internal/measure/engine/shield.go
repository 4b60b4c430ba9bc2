package engine

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"sync/atomic"
	"time"

	"plimsoll/internal/record"
)

// Shield wraps engines so that a mistake in one of them is that one's alone: a
// panic in Info, Detect or Open, and a Detect or Open that does not come back
// when its context is over, become answers that say so. (Leftovers has a guard of its
// own, and an environment's calls have the run's.)
func Shield(engines []Engine) []Engine {
	out := make([]Engine, len(engines))
	for i, e := range engines {
		if _, ok := e.(shielded); !ok {
			e = shielded{e}
		}
		out[i] = e
	}
	return out
}

type shielded struct{ Engine }

// Info of an engine that can't even say its name is the name of its package.
func (s shielded) Info() (info Info) {
	defer func() {
		if p := recover(); p != nil {
			t := reflect.TypeOf(s.Engine)
			for t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			info = Info{Name: path.Base(t.PkgPath()), Title: path.Base(t.PkgPath())}
		}
	}()
	return s.Engine.Info()
}

// How long a call may take to come back once its context is over: what it asked
// is being ended then, what it made is being taken away, and its answer says
// what hung.
const (
	detectGrace = 5 * time.Second
	openGrace   = time.Minute
)

func (s shielded) Detect(ctx context.Context, kit *Kit) Detection {
	return within(ctx, detectGrace, func() Detection { return s.Engine.Detect(ctx, kit) },
		func(p any) Detection { return Detection{Reason: panicked(p), Fix: reportIt} },
		func() Detection { return Detection{Reason: "looking for it does not come to an end"} })
}

func (s shielded) Open(ctx context.Context, kit *Kit, spec Spec) (Environment, error) {
	type answer struct {
		env Environment
		err error
	}
	fault := func(class record.Class, text string) answer {
		return answer{nil, &Error{Class: class, Text: "opening it: " + text}}
	}
	var given atomic.Bool // up
	a := within(ctx, openGrace, func() answer {
		env, err := s.Engine.Open(ctx, kit, spec)
		if given.Load() && err == nil {
			_ = env.Close(context.WithoutCancel(ctx)) // nobody is there to be told; the sweep finds what stays
		}
		return answer{env, err}
	},
		func(p any) answer { return fault(record.HarnessError, panicked(p)) },
		func() answer {
			given.Store(true)
			return fault(record.TimeOut, "it does not come to an end")
		})
	return a.env, a.err
}

// within gives what call does; or what faulty makes of its panic; or endless,
// where it does not even come back a while after ctx is over.
func within[T any](ctx context.Context, grace time.Duration, call func() T, faulty func(any) T, endless func() T) T {
	done := make(chan T, 1)
	go func() {
		var out T
		defer func() {
			if p := recover(); p != nil {
				out = faulty(p)
			}
			done <- out
		}()
		out = call()
	}()
	select {
	case out := <-done:
		return out
	case <-ctx.Done():
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case out := <-done:
		return out
	case <-t.C:
		return endless()
	}
}

// reportIt is the advice for a mistake of ours.
const reportIt = "go on without it; this is a mistake in Plimsoll and worth a report"

func panicked(p any) string { return fmt.Sprintf("the adapter panicked: %v", p) }
