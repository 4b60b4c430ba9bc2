package cri

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// How long a server may take over one call while it removes a pod, and for how
// long it is asked, before the pod's processes are killed.
const (
	callLimit = 3 * time.Second
	inVain    = 2 * time.Second
)

// removePod ends and removes a pod of ours with all of its containers, by
// name, and returns when the server knows it no more. A pod that is not there
// is gone.
func (s *server) removePod(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	began := time.Now()
	for {
		id, err := s.podByName(ctx, name)
		if err != nil {
			return err
		}
		if id == "" {
			reap(name, nil)
			return nil
		}
		ids, err := s.removePodByID(ctx, id)
		if err == nil {
			return nil
		}
		if time.Since(began) > inVain {
			reap(name, ids)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the pod %s was still there after %v: %w", name, removeLimit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

func (s *server) podByName(ctx context.Context, name string) (id string, err error) {
	pods, err := s.pods(ctx, "")
	if err != nil {
		return "", err
	}
	for _, p := range pods {
		if p.GetMetadata().GetName() == name {
			return p.GetId(), nil
		}
	}
	return "", nil
}

// removePodByID also kills and removes the containers of the pod; it gives the
// ids of all.
func (s *server) removePodByID(ctx context.Context, id string) (ids []string, err error) {
	ids = []string{id}
	r, err := s.runtime.ListContainers(ctx, &v1.ListContainersRequest{Filter: &v1.ContainerFilter{PodSandboxId: id}})
	if err != nil {
		return ids, s.wrong("listing the containers of the pod "+id, err)
	}
	type call struct {
		what string
		do   func(context.Context) error
	}
	var calls []call
	for _, c := range r.GetContainers() {
		id := c.GetId()
		ids = append(ids, id)
		// Removing ends a container that still runs, but on the server's terms;
		// a grace of 0 is ours.
		calls = append(calls, call{"stopping the container " + id, func(ctx context.Context) error {
			_, err := s.runtime.StopContainer(ctx, &v1.StopContainerRequest{ContainerId: id})
			if status.Code(err) != codes.DeadlineExceeded {
				return nil // there is a removal, which will say it better
			}
			return err
		}}, call{"removing the container " + id, func(ctx context.Context) error {
			_, err := s.runtime.RemoveContainer(ctx, &v1.RemoveContainerRequest{ContainerId: id})
			return err
		}})
	}
	calls = append(calls, call{"stopping the pod " + id, func(ctx context.Context) error {
		_, err := s.runtime.StopPodSandbox(ctx, &v1.StopPodSandboxRequest{PodSandboxId: id})
		return err
	}}, call{"removing the pod " + id, func(ctx context.Context) error {
		_, err := s.runtime.RemovePodSandbox(ctx, &v1.RemovePodSandboxRequest{PodSandboxId: id})
		return err
	}})
	var errs []error
	for _, c := range calls {
		err := within(ctx, callLimit, c.do)
		if err == nil || notFound(err) {
			continue
		}
		errs = append(errs, s.wrong(c.what, err))
		if status.Code(err) == codes.DeadlineExceeded {
			break // the others would hang as well
		}
	}
	return ids, errors.Join(errs...)
}

// removeFromPod removes a container by its name in a pod, which stays.
func (s *server) removeFromPod(ctx context.Context, pod, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	r, err := s.runtime.ListContainers(ctx, &v1.ListContainersRequest{Filter: &v1.ContainerFilter{PodSandboxId: pod}})
	if err != nil {
		return s.wrong("listing the containers of the pod "+pod, err)
	}
	for _, c := range r.GetContainers() {
		if c.GetMetadata().GetName() != name {
			continue
		}
		_, _ = s.runtime.StopContainer(ctx, &v1.StopContainerRequest{ContainerId: c.GetId()}) // the removal says it better
		if _, err := s.runtime.RemoveContainer(ctx, &v1.RemoveContainerRequest{ContainerId: c.GetId()}); err != nil && !notFound(err) {
			return s.wrong("removing the container "+name, err)
		}
	}
	return nil
}

func within(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return do(ctx)
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
		found, err := s.leftovers(ctx, runID)
		s.close()
		left, errs = append(left, found...), append(errs, err)
	}
	return left, errors.Join(errs...)
}

func (s *server) leftovers(ctx context.Context, runID string) ([]engine.Leftover, error) {
	pods, err := s.pods(ctx, runID)
	if err != nil {
		return nil, err
	}
	var left []engine.Leftover
	for _, p := range pods {
		left = append(left, engine.Leftover{Kind: "pod", Name: p.GetMetadata().GetName(), Remove: s.again(func(ctx context.Context, s *server) error {
			return s.removePod(ctx, p.GetMetadata().GetName())
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
