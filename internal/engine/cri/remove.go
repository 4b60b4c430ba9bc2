package cri

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// removePod ends and removes a pod of ours with all of its containers, by
// name, and returns when the server knows it no more. A pod that is not there
// is gone.
func (s *server) removePod(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	for {
		pods, err := s.pods(ctx, "")
		if err != nil {
			return err
		}
		found := ""
		for _, p := range pods {
			if p.GetMetadata().GetName() == name {
				found = p.GetId()
			}
		}
		if found == "" {
			return nil
		}
		if err = s.removePodByID(ctx, found); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the pod %s was still there after %v: %w", name, removeLimit, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// removePodByID also kills and removes the containers of the pod.
func (s *server) removePodByID(ctx context.Context, id string) error {
	r, err := s.runtime.ListContainers(ctx, &v1.ListContainersRequest{Filter: &v1.ContainerFilter{PodSandboxId: id}})
	if err != nil {
		return s.wrong("listing the containers of the pod "+id, err)
	}
	var errs []error
	for _, c := range r.GetContainers() {
		// Removing ends a container that still runs, but on its own terms; a
		// grace of 0 is ours.
		_, _ = s.runtime.StopContainer(ctx, &v1.StopContainerRequest{ContainerId: c.GetId()})
		if _, err := s.runtime.RemoveContainer(ctx, &v1.RemoveContainerRequest{ContainerId: c.GetId()}); err != nil && !notFound(err) {
			errs = append(errs, s.wrong("removing the container "+c.GetId(), err))
		}
	}
	if _, err := s.runtime.StopPodSandbox(ctx, &v1.StopPodSandboxRequest{PodSandboxId: id}); err != nil && !notFound(err) {
		errs = append(errs, s.wrong("stopping the pod "+id, err))
	}
	if _, err := s.runtime.RemovePodSandbox(ctx, &v1.RemovePodSandboxRequest{PodSandboxId: id}); err != nil && !notFound(err) {
		errs = append(errs, s.wrong("removing the pod "+id, err))
	}
	return errors.Join(errs...)
}

// pods lists the pods that bear our label: a run's, or any run's where the
// id is empty.
func (s *server) pods(ctx context.Context, runID string) ([]*v1.PodSandbox, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	f := &v1.PodSandboxFilter{}
	if runID != "" {
		f.LabelSelector = map[string]string{engine.Label: runID}
	}
	r, err := s.runtime.ListPodSandbox(ctx, &v1.ListPodSandboxRequest{Filter: f})
	if err != nil {
		return nil, s.wrong("listing the pods of ours", err)
	}
	var ours []*v1.PodSandbox
	for _, p := range r.GetItems() {
		if p.GetLabels()[engine.Label] != "" {
			ours = append(ours, p)
		}
	}
	return ours, nil
}

// imageName is what our images are called in a server's store.
var imageName = regexp.MustCompile(`^127\.0\.0\.1:\d+/plimsoll/[a-z0-9.-]+:([a-z0-9]+)$`)

// tags lists our images' names.
func (s *server) tags(ctx context.Context, runID string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	r, err := s.image.ListImages(ctx, &v1.ListImagesRequest{})
	if err != nil {
		return nil, s.wrong("listing the images of ours", err)
	}
	var tags []string
	for _, i := range r.GetImages() {
		for _, t := range i.GetRepoTags() {
			if m := imageName.FindStringSubmatch(t); m != nil && (runID == "" || m[1] == runID) {
				tags = append(tags, t)
			}
		}
	}
	return tags, nil
}

// Leftovers is documented in engine.Engine. Every server that answers is
// looked at, since any of them may have been an environment's endpoint.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	paths, err := e.candidates(kit)
	if err != nil {
		return nil, err
	}
	var left []engine.Leftover
	var errs []error
	for _, path := range paths {
		s, err := dial(ctx, path)
		if errors.Is(err, errNobody) {
			continue
		}
		if err != nil {
			errs = append(errs, &engine.Error{Class: record.Unavailable, Text: "asking the CRI server at " + path + " what it holds of ours", Err: err})
			continue
		}
		found, err := s.leftovers(ctx, kit, runID)
		s.close()
		left, errs = append(left, found...), append(errs, err)
	}
	return left, errors.Join(errs...)
}

func (s *server) leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	pods, err := s.pods(ctx, runID)
	if err != nil {
		return nil, err
	}
	var left []engine.Leftover
	for _, p := range pods {
		left = append(left, engine.Leftover{Kind: "pod", Name: p.GetMetadata().GetName(), Remove: s.again(func(ctx context.Context, s *server) error {
			return s.removePodByID(ctx, p.GetId())
		})})
	}
	tags, err := s.tags(ctx, runID)
	for _, t := range tags {
		left = append(left, engine.Leftover{Kind: "image", Name: t, Remove: s.again(func(ctx context.Context, s *server) error {
			return s.removeImage(ctx, t)
		})})
	}
	return left, err
}

// again opens a connection of its own, since the one that found the leftover
// is closed by then.
func (s *server) again(remove func(context.Context, *server) error) func(context.Context) error {
	path := s.path
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, removeLimit)
		defer cancel()
		s, err := dial(ctx, path)
		if err != nil {
			return err
		}
		defer s.close()
		return remove(ctx, s)
	}
}
