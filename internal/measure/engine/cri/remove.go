package cri

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
)

// How long a server may take over one call while it removes a pod, and for how
// long it is asked, before the pod's processes are killed.
const (
	callLimit = 3 * time.Second
	inVain    = 2 * time.Second
)

// removePod ends and removes a pod of the run's with all of its containers, by
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
			reap(name, nil, nobodyYet)
			return nil
		}
		ids, err := s.removePodByID(ctx, id)
		if err == nil {
			return nil
		}
		if time.Since(began) > inVain {
			reap(name, ids, s.peer.Load())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the pod %s was still there after %v: %w", name, removeLimit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// podByName gives the id of the run's pod of this name, "" where there is none:
// the name alone may be another's, and so may the label.
func (s *server) podByName(ctx context.Context, name string) (id string, err error) {
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	pods, err := s.pods(ctx, s.runID)
	if err != nil {
		return "", s.wrong("looking for the pod "+name, err)
	}
	for _, p := range pods {
		if p.GetMetadata().GetName() == name && p.GetMetadata().GetNamespace() == engine.Namespace {
			return p.GetId(), nil
		}
	}
	return "", nil
}

// pods lists the pods that bear a run's label.
func (s *server) pods(ctx context.Context, runID string) ([]*v1.PodSandbox, error) {
	f := &v1.PodSandboxFilter{LabelSelector: map[string]string{engine.Label: runID}}
	r, err := s.runtime.ListPodSandbox(ctx, &v1.ListPodSandboxRequest{Filter: f})
	return slices.DeleteFunc(r.GetItems(), func(p *v1.PodSandbox) bool {
		return runID == "" || p.GetLabels()[engine.Label] != runID
	}), err
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
