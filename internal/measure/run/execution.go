package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// execution is the payload executed in a container that runs and is held for
// it. The events are those of the execution alone.
type execution struct {
	*site
	inst workload.Instance
}

func (x execution) watched(asked bool) bool { return asked }

func (x execution) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(p, o)
	holder, ok := o.env.(engine.Holder)
	if !ok {
		x.refuse(t, o.rec.ID+" can't hold a container to execute in")
		return t, engine.Result{}, nil
	}
	limit, cancel := context.WithTimeout(ctx, x.limit())
	defer cancel()
	name := fmt.Sprintf("plimsoll-%s-%d", x.rec.ID, p.Seq)
	held, err := holdGuarded(limit, holder, engine.Task{Name: name, Limit: x.limit(),
		Argv: probe.PayloadArgs{Word: newWord(), Stay: true}.Argv(probePath)})
	if err != nil {
		if ctx.Err() != nil {
			return nil, engine.Result{}, ctx.Err()
		}
		t.Failure = engine.FailureOf(err)
		return t, engine.Result{}, nil
	}
	res, err := x.in(ctx, t, o, held, name)
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), x.limit()+30*time.Second)
	defer stop()
	end, endErr := endGuarded(after, held, engine.Stop{Grace: roleGrace})
	if err != nil {
		return nil, res, err
	}
	if t.Failure == nil && endErr != nil {
		t.Failure = engine.FailureOf(endErr)
	}
	if t.Failure == nil && end.Failure != nil {
		t.Failure = &record.Failure{Class: end.Failure.Class, Text: "ending the container: " + end.Failure.Text}
	}
	return t, res, ctx.Err()
}

// in executes the payload in the held container. The error is the context's.
func (x execution) in(ctx context.Context, t *record.Trial, o *openEnv, held engine.Held, name string) (engine.Result, error) {
	executor, ok := held.(engine.Executor)
	if !ok {
		x.refuse(t, o.rec.ID+" can't execute a program in a running container")
		return engine.Result{}, nil
	}
	if err := x.settle(ctx, o, t); err != nil || !t.OK() {
		return engine.Result{}, err
	}
	word := newWord()
	var res engine.Result
	var err error
	x.observe(o, t, func() {
		res, err = execGuarded(ctx, executor, engine.Task{Name: name + "-exec", Argv: x.inst.Argv(word), Limit: x.limit()})
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return res, ctx.Err()
	case err != nil:
		t.Failure = engine.FailureOf(err)
	}
	// The container's own start is not this trial's: what begins here is the
	// execution.
	if at := res.Events[record.Request]; at != 0 {
		res.Events[record.Exec] = cmp.Or(res.Events[record.Exec], at)
		delete(res.Events, record.Request)
	}
	x.fill(t, o, x.inst, word, res)
	return res, nil
}
