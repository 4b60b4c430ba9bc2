package cri

import (
	"context"
	"errors"
	"fmt"
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// thing is what the ledger says of something in this server. A pod is a
// container there, of the name of its first one.
func (s *server) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: Name, At: s.path}
}

// Leftovers looks for each thing at the server where it was made, whichever the
// environment names by now.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookFor(things, func(t engine.Thing) (bool, error) { return look(ctx, kit, t) },
		func(ctx context.Context, t engine.Thing) error { return takeAway(ctx, kit, t) }), nil
}

// restarts is what helps where the server at a socket does not answer. A service is at
// the usual ones alone.
func restarts(socket string) string {
	switch strings.TrimPrefix(socket, "/var") {
	case usual[0]:
		return "systemctl restart containerd"
	case usual[1]:
		return "systemctl restart crio"
	}
	return "start the server that serves " + socket
}

// askAt calls f with the server at a thing's socket.
func askAt(ctx context.Context, kit *engine.Kit, t engine.Thing, f func(*server) error) error {
	s, err := dial(ctx, t.At)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "asking the CRI server at " + t.At + " what it holds of the run", Err: err,
			Fix: restarts(t.At)}
	}
	defer s.close()
	s.runID = kit.RunID
	return f(s)
}

// look says whether a thing of the ledger's is still there: a pod with the run's
// label; an image can bear none here that a server tells, but has the run's id
// in its name, which the ledger has whole.
func look(ctx context.Context, kit *engine.Kit, t engine.Thing) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	err = askAt(ctx, kit, t, func(s *server) error {
		switch t.Kind {
		case engine.KindContainer:
			id, err := s.podByName(ctx, t.Name)
			there = id != ""
			return err
		case engine.KindImage:
			r, err := s.image.ImageStatus(ctx, &v1.ImageStatusRequest{Image: &v1.ImageSpec{Image: t.Name}})
			if err != nil {
				return s.wrong("looking for the image "+t.Name, err)
			}
			there = r.GetImage() != nil
			return nil
		}
		return fmt.Errorf("the ledger has a %s of the CRI's, which is none of its kinds", t.Kind)
	})
	return there, err
}

// takeAway opens a connection of its own, since the one that found the thing is
// closed by then.
func takeAway(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	return askAt(ctx, kit, t, func(s *server) error {
		if t.Kind == engine.KindImage {
			return s.removeImage(ctx, t.Name)
		}
		return s.removePod(ctx, t.Name)
	})
}

// Bearing asks every server that answers.
func (e *Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	paths, err := e.candidates(kit)
	var found []engine.Thing
	errs := []error{err}
	for _, path := range paths {
		s, err := dial(ctx, path)
		if err != nil {
			continue // whether there is one that should answer is not the question
		}
		pods, perr := s.pods(ctx, runID)
		for _, p := range pods {
			found = append(found, s.thing(engine.KindContainer, p.GetMetadata().GetName()))
		}
		images, ierr := s.image.ListImages(ctx, &v1.ListImagesRequest{})
		for _, i := range images.GetImages() {
			for _, tag := range i.GetRepoTags() {
				if strings.HasSuffix(tag, ":"+runID) {
					found = append(found, s.thing(engine.KindImage, tag))
				}
			}
		}
		errs = append(errs, perr, ierr)
		s.close()
	}
	return found, errors.Join(errs...)
}
