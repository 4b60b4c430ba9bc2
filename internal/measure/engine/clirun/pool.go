package clirun

import (
	"context"
	"errors"
	"sync"

	"plimsoll/internal/measure/probe"
)

// pool keeps the launchers of an environment. Each serves one job at a time,
// so there are as many as there were ever jobs at once; all have the same
// cgroups.
type pool struct {
	start func(context.Context) (*probe.Launcher, error)

	mu   sync.Mutex
	idle []*probe.Launcher
	all  map[*probe.Launcher]bool
}

// take gives an idle launcher, the one that served last, or a new one.
func (p *pool) take(ctx context.Context) (*probe.Launcher, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		l := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return l, nil
	}
	p.mu.Unlock()
	l, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[*probe.Launcher]bool{}
	}
	p.all[l] = true
	return l, nil
}

func (p *pool) give(l *probe.Launcher) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[l] { // else the pool was closed meanwhile, and so was l
		p.idle = append(p.idle, l)
	}
}

// drop ends a launcher that can't be used any more.
func (p *pool) drop(l *probe.Launcher) error {
	p.mu.Lock()
	delete(p.all, l)
	p.mu.Unlock()
	return l.Close()
}

// close ends all launchers, idle or not.
func (p *pool) close() error {
	p.mu.Lock()
	all := p.all
	p.all, p.idle = nil, nil
	p.mu.Unlock()
	var errs []error
	for l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
