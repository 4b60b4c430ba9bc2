//go:build linux

package collect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"
)

// daemon is the processes of one engine, shared by all watches of it.
type daemon struct {
	key     string
	panel   *panel
	procs   *processes
	first   int // the process that must still be there
	watched int // by how many watches
	err     error
}

// Know finds the engine's daemons of a subject beforehand, so that Watch costs
// next to nothing between a trial's quiet and its request. An error says why
// some could not be found; the others are sampled.
func (c *Collector) Know(s Subject) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	d := c.daemon(s)
	if d == nil {
		return nil
	}
	return d.err
}

var errClosed = errors.New("sampling: the collector is closed")

// daemon gives the engine's processes, nil for an engine without any.
func (c *Collector) daemon(s Subject) *daemon {
	if len(s.Sockets)+len(s.Daemons) == 0 {
		return nil
	}
	key := fmt.Sprint(s.Sockets, s.Daemons)
	i := slices.IndexFunc(c.daemons, func(d *daemon) bool { return d.key == key })
	if i >= 0 {
		d := c.daemons[i]
		// A daemon that was started again is another process.
		if _, alive := c.m.stat(d.first, c.buf); alive || d.watched > 0 {
			return d
		}
		d.panel.close()
		c.daemons = slices.Delete(c.daemons, i, i+1)
	}
	pids, err := c.m.daemonsOf(s)
	d := &daemon{key: key, panel: newPanel(Daemon), procs: &processes{m: c.m}, err: err}
	for _, pid := range pids {
		if d.procs.add(pid, c.buf) && d.first == 0 {
			d.first = pid
		}
	}
	if d.first != 0 {
		d.panel.open(&target{m: c.m, procs: d.procs})
	}
	c.daemons = append(c.daemons, d)
	return d
}

// daemonsOf lists the engine's own processes.
func (m *machine) daemonsOf(s Subject) ([]int, error) {
	roots := slices.Clone(s.Daemons)
	var errs []error
	for _, socket := range s.Sockets {
		pid, err := m.dir().Behind(strings.TrimPrefix(socket, "unix://"))
		if errors.Is(err, proc.ErrNobody) {
			err = absent("%s", err)
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		roots = append(roots, pid)
	}
	var all []int
	for _, r := range roots {
		all = union(all, m.daemonsBelow(r))
	}
	return all, errors.Join(errs...)
}
