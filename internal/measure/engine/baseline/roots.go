package baseline

import (
	"errors"
	"sync"

	"plimsoll/internal/measure/engine"
)

// roots are those of one environment: as many as there were ever containers at
// once, so that none writes into another's /work.
type roots struct {
	kit   *engine.Kit
	image string

	mu   sync.Mutex
	idle []*root
	all  []*root
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
	r, err := newRoot(s.kit, s.image)
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

// close removes all of them; it may be called twice.
func (s *roots) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.all {
		errs = append(errs, r.remove())
	}
	s.idle = nil
	return errors.Join(errs...)
}
