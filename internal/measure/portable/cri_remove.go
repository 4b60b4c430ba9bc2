package portable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// removeCRI removes a thing that the ledger of a run names.
func (a Address) removeCRI(ctx context.Context, t engine.Thing, runID string) error {
	s, err := a.connectCRI(runID)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // what was to be done is done
	v, err := s.greet(ctx)
	if err != nil {
		return err
	}
	there, err := s.has(ctx, t)
	switch {
	case err != nil:
		return err
	case !there:
		return a.absent(serverOf(v), runID)
	case t.Kind == engine.KindImage:
		return s.removeImage(ctx, t.Name)
	}
	return s.removePod(ctx, t.Name)
}

// absent is what it means that who answers has nothing of what a ledger names.
func (a Address) absent(answers, runID string) error {
	if err := a.elsewhere(answers); err != nil {
		changed := "set up anew since"
		if a.Engine == CRI {
			changed = "with another version by now"
		}
		return fmt.Errorf("%w; if this is that one, %s, nothing is left to remove: delete the ledger %s", err, changed, runID+ledgerSuffix)
	}
	return errAbsent
}

// errAbsent: what a ledger names was not there.
var errAbsent = errors.New("it was not there")

// ErrElsewhere is that another server answers than the run had where it has left something:
// the socket may lead to another node by now.
var ErrElsewhere = errors.New("another server answers there than the run had")

// elsewhere says so of an address as a ledger has it, with what to do; nil where the same
// server answers, or the ledger does not tell.
func (a Address) elsewhere(answers string) error {
	if a.Server == "" || answers == "" || a.Server == answers {
		return nil
	}
	do := "forward the socket of the run's own node there"
	if a.Engine != CRI {
		do = "let that address lead to the run's own daemon"
	}
	return fmt.Errorf("%w: %s answers at %s, and it had %s: %s, and try again", ErrElsewhere, answers, a.Host, a.Server, do)
}

// serverOf is by what a server is known again. It says nothing of its machine.
func serverOf(v *runtimev1.VersionResponse) string {
	return v.GetRuntimeName() + " " + v.GetRuntimeVersion()
}

// has says whether the server has what a ledger names.
func (s *Server) has(ctx context.Context, t engine.Thing) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	if t.Kind == engine.KindImage {
		_, err := s.lookUp(ctx, t.Name)
		if errors.Is(err, errNoImage) {
			return false, nil
		}
		return err == nil, err
	}
	id, err := s.podByName(ctx, t.Name)
	if err != nil {
		return false, s.wrong("looking for the pod "+t.Name, err)
	}
	return id != "", nil
}

// removePod ends and removes a pod of the run's with its containers, and returns when the
// server knows it no more. What is not there is gone; what bears the name and not the
// run's label is somebody else's.
func (s *Server) removePod(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	for {
		id, err := s.podByName(ctx, name)
		if err != nil {
			return s.wrong("looking for the pod "+name, err)
		}
		if id == "" {
			return nil
		}
		if err = s.removeByID(ctx, id); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the pod %s was still there after %v: %w", name, removeLimit, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// podByName gives the id of the run's pod of this name; "" where there is none.
func (s *Server) podByName(ctx context.Context, name string) (string, error) {
	if s.RunID == "" {
		return "", nil
	}
	r, err := s.runtime.ListPodSandbox(ctx, &runtimev1.ListPodSandboxRequest{Filter: &runtimev1.PodSandboxFilter{LabelSelector: map[string]string{engine.Label: s.RunID}}})
	if err != nil {
		return "", err
	}
	for _, p := range r.GetItems() {
		if m := p.GetMetadata(); p.GetLabels()[engine.Label] == s.RunID && m.GetName() == name && m.GetNamespace() == engine.Namespace {
			return p.GetId(), nil
		}
	}
	return "", nil
}

// removeByID removes a pod with its containers, which are killed.
func (s *Server) removeByID(ctx context.Context, id string) error {
	r, err := s.runtime.ListContainers(ctx, &runtimev1.ListContainersRequest{Filter: &runtimev1.ContainerFilter{PodSandboxId: id}})
	if err != nil {
		return s.wrong("listing the containers of the pod", err)
	}
	for _, c := range r.GetContainers() {
		// A grace of 0 is ours; what fails is said better by the removal.
		_, _ = s.runtime.StopContainer(ctx, &runtimev1.StopContainerRequest{ContainerId: c.GetId()})
		if _, err := s.runtime.RemoveContainer(ctx, &runtimev1.RemoveContainerRequest{ContainerId: c.GetId()}); err != nil && !notThere(err) {
			return s.wrong("removing the container", err)
		}
	}
	if _, err := s.runtime.StopPodSandbox(ctx, &runtimev1.StopPodSandboxRequest{PodSandboxId: id}); err != nil && !notThere(err) {
		return s.wrong("stopping the pod", err)
	}
	if _, err := s.runtime.RemovePodSandbox(ctx, &runtimev1.RemovePodSandboxRequest{PodSandboxId: id}); err != nil && !notThere(err) {
		return s.wrong("removing the pod", err)
	}
	return nil
}

// removeImage takes away an image that has the run's id in its tag. The CRI takes all
// names of an image away at once, so that one to which somebody has given another stays.
func (s *Server) removeImage(ctx context.Context, ref string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	_, tag := cutTag(ref)
	if s.RunID == "" || !strings.Contains(tag, s.RunID) {
		return nil
	}
	have, err := s.lookUp(ctx, ref)
	if errors.Is(err, errNoImage) {
		return nil
	}
	if err != nil {
		return err
	}
	if other := foreignName(ref, slices.Concat(have.GetRepoTags(), have.GetRepoDigests())); other != "" {
		return fmt.Errorf("the image %s is kept, since somebody has named it %s", ref, other)
	}
	if _, err := s.image.RemoveImage(ctx, &runtimev1.RemoveImageRequest{Image: &runtimev1.ImageSpec{Image: ref}}); err != nil && !notThere(err) {
		return s.wrong("removing the image "+ref, err)
	}
	return nil
}

// foreignName gives the first of an image's names that is neither ref nor ref's repository
// with a digest; "" where there is none. A server writes names in its own way:
// docker.io/me/x is index.docker.io/me/x as well.
func foreignName(ref string, names []string) string {
	ours, err := name.ParseReference(ref)
	if err != nil {
		return ref
	}
	for _, n := range names {
		is, err := name.ParseReference(n)
		if err != nil || is.Context().Name() != ours.Context().Name() {
			return n
		}
		if _, byDigest := is.(name.Digest); !byDigest && is.Name() != ours.Name() {
			return n
		}
	}
	return ""
}

// cutTag parts a reference from its tag.
func cutTag(ref string) (repo, tag string) {
	i := strings.LastIndexByte(ref, ':')
	if i < 0 || strings.Contains(ref[i:], "/") {
		return ref, ""
	}
	return ref[:i], ref[i+1:]
}
