package cri

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Pull is a single step: the CRI has one call for all of it.
func (env *environment) Pull(ctx context.Context, task engine.PullTask) (engine.Pulled, error) {
	if err := ctx.Err(); err != nil {
		return engine.Pulled{}, fmt.Errorf("pulling %s: %w", task.Ref, err)
	}
	s := env.s
	res := engine.Pulled{Events: map[record.Event]int64{}}
	// A run that is killed here leaves an image that nobody would look for.
	if s.own == nil {
		if err := env.kit.Ledger.Made(s.thing(engine.KindImage, task.Ref)); err != nil {
			return res, err
		}
	}
	stop, err := s.relay(task.Ref)
	if err != nil {
		return res, err
	}
	defer func() { _ = stop() }() // it ends with what is pulled
	req := &v1.PullImageRequest{Image: &v1.ImageSpec{Image: task.Ref}}
	restore := stamp.Quiet()
	res.Events[record.Request] = stamp.Now()
	_, err = s.image.PullImage(ctx, req)
	at := stamp.Now()
	restore()
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return res, fmt.Errorf("pulling %s: %w", task.Ref, ctx.Err())
		}
		e := s.pullError(task.Ref, err)
		res.Failure = &record.Failure{Class: e.Class, Text: e.Error()}
		return res, nil
	}
	res.Events[record.Ready] = at
	have, err := s.lookUp(ctx, task.Ref)
	if err != nil {
		res.Failure = s.failure("looking up the image after the pull", err)
		return res, nil
	}
	for _, d := range have.GetRepoDigests() {
		if strings.HasSuffix(d, "@"+task.Digest) {
			return res, nil
		}
	}
	res.Failure = &record.Failure{Class: record.WrongComponent,
		Text: fmt.Sprintf("the CRI server arrived at %v, the registry has %s", have.GetRepoDigests(), task.Digest)}
	return res, nil
}

func (env *environment) Drop(ctx context.Context, ref string) error {
	if err := env.s.removeImage(ctx, ref); err != nil {
		return err
	}
	if env.s.own != nil {
		return nil
	}
	return env.kit.Ledger.Gone(env.s.thing(engine.KindImage, ref))
}

// Sizes returns the one size that the CRI knows of an image; it leaves open which.
func (env *environment) Sizes(ctx context.Context, ref string) (engine.ImageSizes, error) {
	have, err := env.s.lookUp(ctx, ref)
	if err != nil {
		return engine.ImageSizes{}, err
	}
	return engine.ImageSizes{Printed: int64(have.GetSize()), Unpacked: -1, Disk: -1, Shared: -1, Unique: -1, Converted: -1}, nil
}
