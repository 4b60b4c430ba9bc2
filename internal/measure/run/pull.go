package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// dropLimit bounds the removal of an image from an engine's store.
const dropLimit = 2 * time.Minute

// pull is an image brought from the run's own registry into an engine's store.
type pull struct {
	*site
	from *puller
	what workload.Pull
}

func (l pull) watched(bool) bool { return false }

func (l pull) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := blank(p)
	t.At = time.Now()
	env := pullerOf(o)
	if sizer := sizerOf(o, l.what.Image); sizer != nil {
		t.Events = map[record.Event]int64{record.Request: stamp.Now()}
		t.Values = map[string]float64{}
		t.Remarks = append(t.Remarks, "the image was handed over when the environment was opened, and not pulled")
		t.Failure = l.fillSizes(ctx, t, sizer, "")
		return t, engine.Result{}, ctx.Err()
	}
	var pub *image.Published
	if l.from != nil {
		pub = l.from.images[l.what.Image]
	}
	switch {
	case env == nil:
		l.refuse(t, noPuller(o.rec.ID))
	case pub == nil:
		t.Failure = &record.Failure{Class: record.Unavailable, Text: "the image " + l.what.Image + " is not in the registry of the run"}
	}
	if t.Failure != nil {
		return t, engine.Result{}, nil
	}
	// Whatever happens, nothing of the pull stays in the engine's store.
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropLimit)
		defer cancel()
		if err := dropBoth(after, env, pub); err != nil {
			t.Remarks = append(t.Remarks, "removing the image after the trial: "+err.Error())
		}
	}()
	if err := l.bring(ctx, env, pub, l.what.Cache); err != nil {
		if ctx.Err() != nil {
			return nil, engine.Result{}, ctx.Err()
		}
		t.Failure = engine.FailureOf(err)
		return t, engine.Result{}, nil
	}
	if err := l.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	before := l.from.registry.Traffic()
	var pulled engine.Pulled
	var err error
	l.observe(o, t, func() {
		pulled, err = l.pullGuarded(ctx, env, engine.PullTask{Ref: pub.Ref, Digest: pub.Digest})
	})
	if err != nil && ctx.Err() != nil {
		return nil, engine.Result{}, ctx.Err()
	}
	served := l.from.registry.Traffic().Since(before)
	t.Client = pulled.Client
	t.Failure = pulled.Failure
	if err != nil {
		t.Failure = engine.FailureOf(err)
	}
	if t.Failure == nil {
		t.Values = map[string]float64{}
		t.Failure = workload.FillPull(t, pulled, pub, served, l.what.Cache)
	}
	if t.Failure == nil {
		t.Failure = l.fillSizes(ctx, t, env, pub.Ref)
	}
	return t, engine.Result{}, ctx.Err()
}

// bring brings the engine's store into the state that the trial asks for.
func (l pull) bring(ctx context.Context, env engine.Puller, pub *image.Published, cache string) error {
	if err := dropBoth(ctx, env, pub); err != nil {
		return &engine.Error{Class: record.EngineError, Text: "removing the image before the trial", Err: err}
	}
	task := engine.PullTask{Ref: pub.Ref, Digest: pub.Digest}
	switch cache {
	case workload.CacheCold:
		return nil
	case workload.CacheShared:
		task = engine.PullTask{Ref: pub.Sibling, Digest: pub.SiblingDigest}
	}
	pulled, err := l.pullGuarded(ctx, env, task)
	if err != nil {
		return err
	}
	if f := pulled.Failure; f != nil {
		return &engine.Error{Class: f.Class, Text: "pulling " + task.Ref + " before the trial: " + f.Text}
	}
	return nil
}

func dropBoth(ctx context.Context, env engine.Puller, pub *image.Published) error {
	ctx, cancel := context.WithTimeout(ctx, dropLimit)
	defer cancel()
	return errors.Join(env.Drop(ctx, pub.Ref), env.Drop(ctx, pub.Sibling))
}

// pullGuarded bounds a pull by the trial limit.
func (l pull) pullGuarded(ctx context.Context, env engine.Puller, task engine.PullTask) (engine.Pulled, error) {
	limit, cancel := context.WithTimeout(ctx, l.limit())
	defer cancel()
	pulled, err := safely(func() (engine.Pulled, error) { return env.Pull(limit, task) })
	if err != nil && ctx.Err() == nil && errors.Is(limit.Err(), context.DeadlineExceeded) {
		err = &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("the pull took more than %s", l.limit()), Err: err}
	}
	return pulled, err
}

// fillSizes asks the engine's store what the image takes.
func (l pull) fillSizes(ctx context.Context, t *record.Trial, env engine.Sizer, ref string) *record.Failure {
	limit, cancel := context.WithTimeout(ctx, l.limit())
	defer cancel()
	s, err := env.Sizes(limit, ref)
	if err != nil {
		return &record.Failure{Class: engine.FailureOf(err).Class, Text: "asking for the image's sizes: " + err.Error()}
	}
	sizes := map[string]int64{
		workload.SizeUnpacked: s.Unpacked, workload.SizeDisk: s.Disk, workload.SizeShared: s.Shared,
		workload.SizeUnique: s.Unique, workload.SizeConverted: s.Converted, workload.SizePrinted: s.Printed,
	}
	for _, id := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[id] >= 0 {
			t.Values[id] = float64(sizes[id])
		}
	}
	if saver, ok := env.(engine.Saver); ok {
		n, err := saver.Save(limit, ref)
		if err != nil {
			return &record.Failure{Class: engine.FailureOf(err).Class, Text: "having the image saved: " + err.Error()}
		}
		t.Values[workload.SizeSaved] = float64(n)
	}
	return nil
}
