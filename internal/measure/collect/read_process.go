//go:build linux

package collect

import (
	"errors"
	"fmt"
	"os"
	"strconv"
)

// ofProcesses reads from each process of a part.
type ofProcesses struct {
	*target
	each func(p *ofProcesses, out []int64, buf []byte) error
}

func (p *ofProcesses) read(out []int64, buf []byte) error { return p.each(p, out, buf) }

func (p *ofProcesses) close() {}

func openProcesses(each func(p *ofProcesses, out []int64, buf []byte) error) func(*target) (instrument, error) {
	return func(t *target) (instrument, error) { return &ofProcesses{t, each}, nil }
}

// readCPU sums up the processes' own CPU time.
func readCPU(p *ofProcesses, out []int64, _ []byte) error {
	out[0] = p.procs.cpu()
	return nil
}

// treeCPU sums up the CPU time of a payload without a control group of its
// own: that of its processes, and of the children that they have waited for.
type treeCPU struct {
	*target
	ticks int
	most  int64
}

func openTreeCPU(t *target) (instrument, error) { return &treeCPU{target: t}, nil }

func (c *treeCPU) read(out []int64, buf []byte) error {
	if c.ticks%10 == 0 {
		c.refresh(buf)
	}
	c.ticks++
	// Who has ended is among the children that somebody has waited for.
	sum := c.procs.cpu()
	sum -= c.procs.gone
	for _, m := range c.procs.all {
		if st, ok := c.m.stat(m.pid, buf); ok {
			sum += st.children
		}
	}
	// A child that has ended and is not yet waited for is in neither; nor is
	// the last one of all, after its own end.
	c.most = max(c.most, sum)
	out[0] = c.most
	return nil
}

func (c *treeCPU) refresh(buf []byte) {
	if len(c.procs.all) == 0 {
		return
	}
	for _, pid := range c.m.descendants(c.procs.all[0].pid, func(int) bool { return false }) {
		c.procs.add(pid, buf)
	}
}

func (c *treeCPU) close() {}

// readChildren sums up the CPU time of the children that a daemon has waited
// for, such as the runtimes that it calls.
func readChildren(p *ofProcesses, out []int64, buf []byte) error {
	var sum int64
	for _, m := range p.procs.all {
		if st, ok := p.m.stat(m.pid, buf); ok {
			sum += st.children
		}
	}
	out[0] = sum
	return nil
}

// readPSS sums up what the processes have of memory, each shared page by the
// share of those who map it, and counts them.
func readPSS(p *ofProcesses, out []int64, buf []byte) error {
	p.members(buf)
	var pss, uss, n int64
	for _, m := range p.procs.all {
		b, err := readOnceSlow(p.m.proc(m.pid, "smaps_rollup"), buf)
		if errors.Is(err, errGone) || errors.Is(err, errEmpty) {
			continue
		}
		if err != nil {
			return err
		}
		one, own, ok := parseSmaps(b)
		if !ok {
			return fmt.Errorf("the memory map of process %d is not understood", m.pid)
		}
		pss, uss, n = pss+one, uss+own, n+1
	}
	if n == 0 {
		return errGone
	}
	out[0], out[1], out[2] = pss, uss, n
	return nil
}

// members looks who is in the payload's group by now.
func (p *ofProcesses) members(buf []byte) {
	if p.group == nil {
		return
	}
	if dir := p.group.anyDir(); dir != "" {
		for _, pid := range members(dir, maxMembers) {
			p.procs.add(pid, buf)
		}
	}
}

// readStorage sums up what processes have read from storage and written to it.
// A process's numbers hold those of the children that it has waited for.
func readStorage(p *ofProcesses, out []int64, buf []byte) error {
	var read, written, n int64
	for _, m := range p.procs.all {
		b, err := readOnce(p.m.proc(m.pid, "io"), buf)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return err
		}
		r, w, ok := parseProcessIO(b)
		if !ok {
			return fmt.Errorf("/proc/%d/io is not understood", m.pid)
		}
		read, written, n = read+r, written+w, n+1
	}
	if n == 0 {
		return errGone
	}
	// The sums may only grow: who has ended unseen is missing from them.
	p.procs.readFrom.most(read)
	p.procs.writtenTo.most(written)
	out[0], out[1] = p.procs.readFrom.sum, p.procs.writtenTo.sum
	return nil
}

func (g *growth) most(n int64) { g.sum = max(g.sum, n) }

// readSwitches sums up the context switches of all threads that were seen.
func readSwitches(p *ofProcesses, out []int64, buf []byte) error {
	n := 0
	for _, m := range p.procs.all {
		b, err := readOnce(p.m.proc(m.pid, "status"), buf)
		if err != nil {
			continue
		}
		n++
		if threads, ok := field(b, "Threads:"); ok && threads == 1 {
			if err := p.see(m.pid, b); err != nil {
				return err
			}
			continue
		}
		dir := p.m.proc(m.pid, "task")
		tids, err := readNames(dir)
		if err != nil {
			continue
		}
		for _, name := range tids {
			tid, err := strconv.Atoi(name)
			if err != nil {
				return err
			}
			b, err := readOnce(dir+"/"+name+"/status", buf)
			if err != nil {
				continue
			}
			if err := p.see(tid, b); err != nil {
				return err
			}
		}
	}
	if n == 0 {
		return errGone
	}
	out[0] = p.procs.switches.sum
	return nil
}

func (p *ofProcesses) see(tid int, status []byte) error {
	n, ok := parseSwitches(status)
	if !ok {
		return fmt.Errorf("the status of thread %d is not understood", tid)
	}
	p.procs.switches.see(tid, n)
	return nil
}

// readNetwork reads the counters of the payload's own network namespace.
func readNetwork(p *ofProcesses, out []int64, buf []byte) error {
	for _, m := range p.procs.all {
		b, err := readOnce(p.m.proc(m.pid, "net/dev"), buf)
		if err != nil {
			continue
		}
		var ok bool
		if out[0], out[1], ok = parseNetDev(b); !ok {
			return fmt.Errorf("/proc/%d/net/dev is not understood", m.pid)
		}
		return nil
	}
	return errGone
}

func openNetwork(t *target) (instrument, error) {
	own := t.m.link(os.Getpid(), "ns/net")
	for _, m := range t.procs.all {
		switch t.m.link(m.pid, "ns/net") {
		case "":
			continue
		case own:
			return nil, absent("the payload has the host's network")
		}
		return openProcesses(readNetwork)(t)
	}
	return nil, errGone
}
