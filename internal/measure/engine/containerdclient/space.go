// Package containerdclient is what adapters share that lie upon containerd: a namespace of
// the run's own there, which bears the run's id as a label. What is in it needs
// no further proof, and goes with it.
package containerdclient

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/content"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"
	"github.com/opencontainers/go-digest"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
)

// Space is a namespace of containerd's.
type Space struct {
	Client *client.Client
	Socket string
	Name   string
	RunID  string
	// Container removes a container of it, with its task; nil: Remove does.
	Container func(ctx context.Context, id string) error
	// Dirs are directories in which the runtimes of its containers have one of
	// its name.
	Dirs []string
}

// ErrForeign says that there is a namespace of this name that is not the run's.
var ErrForeign = errors.New("it is not of this run")

// Make makes the namespace, where the run has not done so yet.
func (s *Space) Make(ctx context.Context) error {
	// It tells of it by an event in a namespace, as of everything.
	ctx = namespaces.WithNamespace(ctx, s.Name)
	err := s.Client.NamespaceService().Create(ctx, s.Name, map[string]string{engine.Label: s.RunID})
	if !errdefs.IsAlreadyExists(err) {
		return err
	}
	there, err := s.There(ctx)
	if err == nil && !there {
		err = ErrForeign
	}
	return err
}

// There says whether the namespace is there, and is the run's.
func (s *Space) There(ctx context.Context) (bool, error) {
	labels, err := s.Client.NamespaceService().Labels(ctx, s.Name)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	return err == nil && s.RunID != "" && labels[engine.Label] == s.RunID, err
}

// removeLimit is how long containerd may take to let go of a namespace.
const removeLimit = 20 * time.Second

// Remove removes the namespace with everything in it. One that is not there is
// gone; one that is not the run's stays.
func (s *Space) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(namespaces.WithNamespace(ctx, s.Name), removeLimit)
	defer cancel()
	for {
		there, err := s.There(ctx)
		if err != nil {
			return err
		}
		if !there {
			s.forget(ctx)
			return nil
		}
		if err = s.empty(ctx); err == nil {
			err = s.Client.NamespaceService().Delete(ctx, s.Name)
		}
		if err == nil || errdefs.IsNotFound(err) {
			continue
		}
		if !engine.Pause(ctx, 100*time.Millisecond) {
			return err
		}
	}
}

// empty takes away all that the namespace holds: containers, leases and images
// first, by which containerd's collector takes most of the rest.
func (s *Space) empty(ctx context.Context) error {
	containers, err := s.Client.Containers(ctx)
	errs := []error{err}
	for _, c := range containers {
		if s.Container != nil {
			errs = append(errs, s.Container(ctx, c.ID()))
		} else {
			errs = append(errs, remove(ctx, c))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	s.endShims()
	held, err := s.Client.LeasesService().List(ctx)
	errs = append(errs, err)
	for _, l := range held {
		errs = append(errs, unlessGone(s.Client.LeasesService().Delete(ctx, l)))
	}
	images, err := s.Client.ImageService().List(ctx)
	errs = append(errs, err)
	for _, i := range images {
		errs = append(errs, unlessGone(s.Client.ImageService().Delete(ctx, i.Name)))
	}
	// A lease of a moment, whose end sends the collector through.
	if l, err := s.Client.LeasesService().Create(ctx, leases.WithRandomID(), leases.WithExpiration(time.Minute)); err == nil {
		errs = append(errs, s.Client.LeasesService().Delete(ctx, l, leases.SynchronousDelete))
	}
	return errors.Join(append(errs, s.emptySnapshots(ctx), s.emptyContent(ctx))...)
}

// emptySnapshots removes the snapshots that the collector has left. One with
// others upon it is refused, and gone in a later round.
func (s *Space) emptySnapshots(ctx context.Context) error {
	plugins, err := s.Client.IntrospectionService().Plugins(ctx, "type==io.containerd.snapshotter.v1")
	if err != nil {
		return err
	}
	for _, p := range plugins.GetPlugins() {
		if p.GetInitErr() != nil {
			continue
		}
		service := s.Client.SnapshotService(p.GetID())
		for left := -1; left != 0; {
			var keys []string
			err := service.Walk(ctx, func(_ context.Context, i snapshots.Info) error {
				keys = append(keys, i.Name)
				return nil
			})
			if err != nil {
				return err
			}
			if len(keys) == left {
				return fmt.Errorf("%d snapshots of %s stay, as %s", left, p.GetID(), keys[0])
			}
			left = len(keys)
			for _, k := range keys {
				_ = service.Remove(ctx, k) // the next round tells
			}
		}
	}
	return nil
}

// emptyContent removes the blobs that the collector has left, and what was
// being written.
func (s *Space) emptyContent(ctx context.Context) error {
	store := s.Client.ContentStore()
	writing, err := store.ListStatuses(ctx)
	errs := []error{err}
	for _, w := range writing {
		errs = append(errs, unlessGone(store.Abort(ctx, w.Ref)))
	}
	var blobs []digest.Digest
	errs = append(errs, store.Walk(ctx, func(i content.Info) error {
		blobs = append(blobs, i.Digest)
		return nil
	}))
	for _, b := range blobs {
		errs = append(errs, unlessGone(store.Delete(ctx, b)))
	}
	return errors.Join(errs...)
}

// unlessGone: what is not there is removed.
func unlessGone(err error) error {
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
}

// endShims ends the shims of the namespace whose containers are gone: containerd
// leaves one behind where a client was killed while a task was made. A shim works in
// its container's bundle, which lies in the namespace's directory.
func (s *Space) endShims() {
	dirs := bundles(s.Socket, s.Name)
	adapter.Helper{Program: "containerd-shim", Prefix: true}.Kill(func(pid int) bool {
		cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		return err == nil && slices.Contains(dirs, filepath.Dir(strings.TrimSuffix(cwd, " (deleted)")))
	})
}

// tasks is the directory below a containerd's state in which namespaces have their
// containers' bundles.
const tasks = "io.containerd.runtime.v2.task"

// bundles returns the directories in which a containerd, by its socket, may keep the
// bundles of a namespace.
func bundles(socket, namespace string) []string {
	run := filepath.Dir(socket)
	return []string{filepath.Join(run, tasks, namespace), filepath.Join(run, "state", tasks, namespace)}
}

// Places returns what engine.Placer does for a namespace of a containerd's: bundles,
// below which root file systems are mounted, and control groups.
func Places(socket, namespace string) []string {
	groups, _ := cgroup.Places(namespace) // without hierarchies there are none
	return append(groups, bundles(socket, namespace)...)
}

// forget removes the empty directories by which containerd and its runtimes
// remember a namespace. What is not empty stays.
func (s *Space) forget(ctx context.Context) {
	dirs := bundles(s.Socket, s.Name)
	for _, dir := range s.Dirs {
		dirs = append(dirs, filepath.Join(dir, s.Name))
	}
	if root := Root(ctx, s.Client); root != "" {
		dirs = append(dirs, filepath.Join(root, tasks, s.Name))
	}
	for _, dir := range dirs {
		_ = os.Remove(dir)
	}
}

// Root is where a containerd keeps what lasts: where its store of content is.
// Empty where it does not tell.
func Root(ctx context.Context, c *client.Client) string {
	r, err := c.IntrospectionService().Plugins(ctx, "type==io.containerd.content.v1")
	if err != nil {
		return ""
	}
	for _, p := range r.GetPlugins() {
		if dir := p.GetExports()["root"]; filepath.IsAbs(dir) {
			return filepath.Dir(dir)
		}
	}
	return ""
}
