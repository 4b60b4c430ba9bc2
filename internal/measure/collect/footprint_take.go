//go:build linux

package collect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
)

// TakeFootprint looks once at the subjects; names are what all engines run beside
// payloads. What could not be read is missing
// with its reason; an error is for ctx, or where /proc itself can't be read.
func TakeFootprint(ctx context.Context, names engine.Processes, subjects []Subject) (*Footprint, error) {
	m, err := newMachine("", names)
	if err != nil {
		return nil, fmt.Errorf("taking the footprint: %w", err)
	}
	s := &survey{m: m, buf: make([]byte, scratchSize), seen: map[int]memory{}}
	f := &Footprint{At: now(), Containers: make([]Container, len(subjects))}
	if err := s.locate(ctx, subjects); err != nil {
		return nil, fmt.Errorf("taking the footprint: %w", err)
	}
	var payloads, monitors []int
	var groups []*group
	for i, b := range s.bodies {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c := &f.Containers[i]
		if b.why != "" {
			c.Payload, c.Monitor = unknown(b.why), unknown(b.why)
		} else {
			c.Payload, c.Monitor = s.use(b.payload), s.use(b.monitor)
			s.charge(&c.Payload, b.group)
		}
		payloads, monitors = union(payloads, b.payload), union(monitors, b.monitor)
		groups = append(groups, b.group)
	}
	f.Payloads, f.Monitors, f.Daemon = s.use(payloads), s.use(monitors), s.use(s.daemons)
	s.sumGroups(f, groups)
	for _, b := range s.bodies {
		if b.why != "" {
			f.Payloads, f.Monitors = unknown(b.why), unknown(b.why)
		}
	}
	if s.noDaemon != "" {
		f.Daemon = unknown(s.noDaemon)
	}
	f.Took = now() - f.At
	return f, nil
}

// survey is one look at the machine.
type survey struct {
	m        *machine
	buf      []byte
	daemons  []int
	noDaemon string
	bodies   []body
	seen     map[int]memory // each process is read once
}

// body is one container's processes, or why they are not known.
type body struct {
	anatomy
	why string
}

type memory struct {
	pss, uss, cpu int64
	err           error
}

// locate finds the daemons' and the containers' processes.
func (s *survey) locate(ctx context.Context, subjects []Subject) error {
	var words []string
	known := map[string]bool{}
	for _, sub := range subjects {
		if len(sub.PIDs) == 0 && sub.Word != "" {
			words = append(words, sub.Word)
		}
		key := fmt.Sprint(sub.Sockets, sub.Daemons)
		if known[key] {
			continue
		}
		known[key] = true
		pids, err := s.m.daemonsOf(sub)
		if err != nil {
			s.noDaemon = reason(err)
		}
		s.daemons = union(s.daemons, pids)
	}
	found := map[string]int{}
	if len(words) > 0 {
		var err error
		if found, err = s.m.findAll(words, s.buf); err != nil {
			return err
		}
	}
	for _, sub := range subjects {
		if err := ctx.Err(); err != nil {
			return err
		}
		pids := sub.PIDs
		if pid := found[sub.Word]; len(pids) == 0 && pid != 0 {
			pids = []int{pid}
		}
		s.bodies = append(s.bodies, s.body(pids))
	}
	return nil
}

func (s *survey) body(pids []int) body {
	if len(pids) == 0 {
		return body{why: "no process of this machine is the payload: it has ended, or runs under another kernel"}
	}
	var b body
	for i, pid := range pids {
		a, err := s.m.dissect(pid, s.daemons, s.buf)
		if err != nil {
			return body{why: fmt.Sprintf("process %d: %v", pid, err)}
		}
		if i == 0 {
			b.anatomy = a
			continue
		}
		b.payload, b.monitor = union(b.payload, a.payload), union(b.monitor, a.monitor)
	}
	return b
}

func union(a, b []int) []int {
	for _, x := range b {
		if !slices.Contains(a, x) {
			a = append(a, x)
		}
	}
	return a
}

func unknown(why string) Use {
	q := Quantity{Missing: why}
	return Use{PSS: q, USS: q, Anon: q, File: q, Kernel: q, Total: q, Peak: q, CPU: q}
}

// use adds up what processes have. One that ended in between counts for
// nothing; one that can't be read makes the sum unknown.
func (s *survey) use(pids []int) Use {
	u := Use{}
	q := Quantity{Missing: "it has no control group of its own"}
	u.Anon, u.File, u.Kernel, u.Total, u.Peak = q, q, q, q, q
	for _, pid := range pids {
		mem := s.process(pid)
		switch {
		case isGone(mem.err):
			continue
		case mem.err != nil:
			u.PSS, u.USS = Quantity{Missing: mem.err.Error()}, Quantity{Missing: mem.err.Error()}
		case u.PSS.OK():
			u.PSS.Value += mem.pss
			u.USS.Value += mem.uss
		}
		u.CPU.Value += mem.cpu
		u.Processes++
	}
	return u
}

func (s *survey) process(pid int) memory {
	if mem, ok := s.seen[pid]; ok {
		return mem
	}
	var mem memory
	mem.cpu, _ = processCPU(pid)
	b, err := readOnceSlow(s.m.proc(pid, "smaps_rollup"), s.buf)
	switch {
	case errors.Is(err, errEmpty): // a process without memory, about to be gone
		mem.err = errGone
	case err != nil:
		mem.err = err
	default:
		var ok bool
		if mem.pss, mem.uss, ok = parseSmaps(b); !ok {
			mem.err = fmt.Errorf("the memory map of process %d is not understood", pid)
		}
	}
	s.seen[pid] = mem
	return mem
}

// charge reads the payload's control group.
func (s *survey) charge(u *Use, g *group) {
	for _, r := range []struct {
		open func(*target) (instrument, error)
		into []*Quantity
	}{
		{openGroupMemory, []*Quantity{&u.Total}},
		{openGroupMemoryPeak, []*Quantity{&u.Peak}},
		{openGroupMemoryParts, []*Quantity{&u.Anon, &u.File, &u.Kernel}},
	} {
		s.fill(r.into, g, r.open)
	}
	// The group also counts those that have ended.
	if cpu := (Quantity{}); s.fill([]*Quantity{&cpu}, g, openGroupCPU) {
		u.CPU = cpu
	}
}

func (s *survey) fill(into []*Quantity, g *group, open func(*target) (instrument, error)) bool {
	fail := func(err error) bool {
		for _, q := range into {
			*q = Quantity{Missing: reason(err)}
		}
		return false
	}
	in, err := open(&target{m: s.m, group: g})
	if err != nil {
		return fail(err)
	}
	defer in.close()
	out := make([]int64, len(into))
	const none = -1
	for i := range out {
		out[i] = none
	}
	if err := in.read(out, s.buf); err != nil {
		return fail(err)
	}
	for i, q := range into {
		if *q = (Quantity{Value: out[i]}); out[i] == none {
			*q = Quantity{Missing: "this kernel does not report it"}
		}
	}
	return true
}

// sumGroups adds up the containers' control groups, each once.
func (s *survey) sumGroups(f *Footprint, groups []*group) {
	counted := map[string]bool{}
	into := func(u *Use) []*Quantity { return []*Quantity{&u.Anon, &u.File, &u.Kernel, &u.Total, &u.Peak, &u.CPU} }
	sums := into(&f.Payloads)
	for _, q := range sums {
		*q = Quantity{}
	}
	for i := range f.Containers {
		if g := groups[i]; g != nil {
			dir := g.anyDir()
			if dir != "" && counted[dir] {
				continue
			}
			counted[dir] = true
		}
		for k, q := range into(&f.Containers[i].Payload) {
			switch {
			case !q.OK():
				*sums[k] = *q
			case sums[k].OK():
				sums[k].Value += q.Value
			}
		}
	}
}
