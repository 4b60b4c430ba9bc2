package adapter

import (
	"context"
	"sync"
)

// Pool shares things among the environments of a run, such as daemons and images
// in a store: one for each key, which ends with the last that uses it. The zero
// value is ready.
type Pool[T any] struct {
	mu   sync.Mutex
	held map[string]*share[T]
}

type share[T any] struct {
	value T
	end   func(context.Context) error
	users int
}

// Get gives the value of a key and what must be called when it is not needed
// any more; start makes it where nobody has it.
func (p *Pool[T]) Get(ctx context.Context, key string, start func(context.Context) (T, func(context.Context) error, error)) (T, func(context.Context) error, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.held[key]
	if s == nil {
		v, end, err := start(ctx)
		if err != nil {
			var none T
			return none, nil, err
		}
		if p.held == nil {
			p.held = map[string]*share[T]{}
		}
		s = &share[T]{value: v, end: end}
		p.held[key] = s
	}
	s.users++
	released := false
	return s.value, func(ctx context.Context) error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if released {
			return nil
		}
		if s.users > 1 {
			released = true
			s.users--
			return nil
		}
		// Where it fails it can be tried again.
		if err := s.end(ctx); err != nil {
			return err
		}
		released = true
		delete(p.held, key)
		return nil
	}, nil
}

// Hold is Get of what has no value.
func (p *Pool[T]) Hold(ctx context.Context, key string, start func(context.Context) (func(context.Context) error, error)) (func(context.Context) error, error) {
	_, release, err := p.Get(ctx, key, func(ctx context.Context) (v T, end func(context.Context) error, err error) {
		end, err = start(ctx)
		return v, end, err
	})
	return release, err
}

// Held lists the keys in use with their values.
func (p *Pool[T]) Held() map[string]T {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]T{}
	for k, s := range p.held {
		all[k] = s.value
	}
	return all
}
