package baseline

import (
	"context"
	"errors"
	"sync"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
)

// roots are those of one environment: as many as there were ever containers at
// once, so that none writes into another's /work.
type roots struct {
	kit    *engine.Kit
	image  string
	thread *thread.Kept // in the mount namespace of all of them

	mu   sync.Mutex
	idle []*root
	all  []*root
}

// newRoots makes the mount namespace. Mounts in the run's folder are other
// environments', and loop file systems private daemons': a copy would keep them busy.
func newRoots(kit *engine.Kit, image string) (*roots, error) {
	s := &roots{kit: kit, image: image, thread: thread.Keep()}
	err := s.thread.Do(func() error {
		return thread.Unshare(0, func(path string) bool { return proc.Under(path, kit.Dir) || private.IsFileSystem(path) })
	})
	if err != nil {
		s.thread.Close()
		return nil, err
	}
	return s, nil
}

// inside is the kit with launchers that live in the roots' namespace.
func (s *roots) inside() *engine.Kit {
	kit := *s.kit
	kit.Launcher = func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
		opts.On = s.thread.Do
		return s.kit.Launcher(ctx, opts)
	}
	return &kit
}

// take gives a root with further mounts in it.
func (s *roots) take(mounts []engine.Mount) (*root, error) {
	r, err := s.one()
	if err != nil {
		return nil, err
	}
	for _, m := range mounts {
		if err := r.add(m); err != nil {
			return nil, errors.Join(err, s.give(r))
		}
	}
	return r, nil
}

func (s *roots) one() (*root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		r := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return r, nil
	}
	r, err := newRoot(s.kit, s.thread, s.image)
	if err != nil {
		return nil, err
	}
	s.all = append(s.all, r)
	return r, nil
}

// give takes a root back, which one that can't be cleaned is not.
func (s *roots) give(r *root) error {
	if err := r.clean(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, r)
	return nil
}

// close removes all of them and ends the namespace, when the launchers have ended; it may
// be called twice.
func (s *roots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.all {
		errs = append(errs, r.remove())
	}
	s.idle = nil
	if s.thread != nil {
		s.thread.Close()
		s.thread = nil
	}
	return errors.Join(errs...)
}
