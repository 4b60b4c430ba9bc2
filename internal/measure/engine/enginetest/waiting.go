package enginetest

import (
	"context"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
)

// waiting is a trial that lasts as long as it may: it runs beside the checks
// before its own, which says what became of it.
type waiting struct {
	args probe.PayloadArgs
	task engine.Task
	res  engine.Result
	err  error
	left []int // processes of the payload when Run had returned
	done chan struct{}
}

// wait starts the trials that wait.
func (s *suite) wait(t *testing.T) {
	t.Helper()
	s.waits = map[string]*waiting{}
	for name, set := range map[string]func(*engine.Task){
		"hang":         func(task *engine.Task) { task.Limit = s.opts.Hang },
		"stop ignored": func(task *engine.Task) { task.Stop = &engine.Stop{Grace: s.opts.Grace} },
	} {
		if !s.tried(name) {
			continue
		}
		w := &waiting{args: probe.PayloadArgs{Stay: true, OnTerm: "ignore"}, done: make(chan struct{})}
		w.task = s.task(&w.args)
		set(&w.task)
		s.waits[name] = w
		ctx, cancel := context.WithTimeout(t.Context(), w.task.Limit+child.Stretch(30*time.Second))
		go func() {
			defer close(w.done)
			defer cancel()
			w.res, w.err = s.env.Run(ctx, w.task)
			w.left = processesWith(w.args.Word)
		}()
	}
}

// waited waits until the trials that wait are over, whatever became of them.
func (s *suite) waited() {
	for _, w := range s.waits {
		<-w.done
	}
}

// await gives what became of a trial that waits.
func (s *suite) await(name string) *waiting {
	w := s.waits[name]
	<-w.done
	return w
}
