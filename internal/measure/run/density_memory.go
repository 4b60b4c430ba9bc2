package run

import (
	"context"
	"errors"

	"github.com/prometheus/procfs"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// snapshot is one look at what is taken.
type snapshot struct {
	memory  *record.Memory
	cpu     record.Idle // counters, not differences
	at      int64
	virtual bool
}

// footprint looks at the memory of containers, engine and machine.
func (a *ramp) footprint(ctx context.Context) snapshot {
	if a.o.virtual {
		return a.modelled()
	}
	f, err := collect.TakeFootprint(ctx, a.site.processes, a.subjects(ctx))
	if err != nil {
		a.remark("reading the memory: " + err.Error())
		return snapshot{}
	}
	s := snapshot{at: f.At, memory: &record.Memory{}}
	m := s.memory
	m.Payload, m.Monitor = a.part(f.Payloads.PSS, "the payloads' memory"), a.part(f.Monitors.PSS, "the monitors' memory")
	m.Charged = a.quietly(f.Payloads.Kernel)
	s.cpu.Payload, s.cpu.Monitor = a.quietly(f.Payloads.CPU), a.quietly(f.Monitors.CPU)
	if len(a.held) == 0 {
		zero := int64(0)
		m.Payload, m.Monitor, m.Charged, s.cpu.Payload, s.cpu.Monitor = &zero, &zero, nil, &zero, &zero
	}
	if a.hasDaemons() {
		m.Daemon, s.cpu.Daemon = a.part(f.Daemon.PSS, "the daemon's memory"), a.quietly(f.Daemon.CPU)
	}
	a.machine(m)
	return s
}

// machine adds what the whole machine says, without our own process: that
// keeps the outputs of all containers.
func (a *ramp) machine(m *record.Memory) {
	info, err := readMeminfo(proc.Here)
	if err != nil {
		a.remark("reading the machine's memory: " + err.Error())
		return
	}
	m.Kernel, m.Shmem = &info.kernel, &info.Shmem
	m.Threads, _ = proc.Here.Threads()
	if own, err := ownPSS(); err == nil {
		taken := info.Total - info.Available - own
		m.Host = &taken
		if info.Free > 0 {
			used := info.Total - info.Free - own
			m.Free = &used
		}
	}
}

// tell adds what the engine's own command says to the last step. It is asked once,
// at the top and after the rest: what that costs the daemon belongs to no rest, and
// Docker takes a second or two to answer.
func (a *ramp) tell(ctx context.Context) {
	teller, ok := a.o.env.(engine.Teller)
	m := a.steps[len(a.steps)-1].Memory
	if !ok || m == nil || len(a.held) == 0 || ctx.Err() != nil {
		return
	}
	names := make([]string, len(a.held))
	for i, h := range a.held {
		names[i] = h.name
	}
	sum, err := teller.MemoryTold(ctx, names)
	var e *engine.Error
	switch {
	case errors.As(err, &e) && e.Class == record.Unsupported: // here it has no such number
	case err != nil:
		a.remark("the engine does not say what its containers take: " + err.Error())
	default:
		m.Told = &sum
	}
}

// modelled is what a simulated engine says of itself.
func (a *ramp) modelled() snapshot {
	m, ok := a.o.env.(engine.Modelled)
	if !ok {
		return snapshot{virtual: true}
	}
	f := m.Footprint()
	return snapshot{virtual: true, memory: &record.Memory{Payload: &f.Payload, Monitor: &f.Monitor, Daemon: &f.Daemon}}
}

func (a *ramp) hasDaemons() bool {
	_, ok := a.o.env.(engine.Daemons)
	return ok
}

// subjects are the containers that run, or one that is nobody's, so that the
// daemon is looked at.
func (a *ramp) subjects(ctx context.Context) []collect.Subject {
	base := collect.Of(ctx, a.o.env, "", nil)
	if len(a.held) == 0 {
		return []collect.Subject{base}
	}
	out := make([]collect.Subject, len(a.held))
	for i, h := range a.held {
		out[i] = base
		out[i].Word = h.word
		if pid := h.Place().PID; pid > 0 {
			out[i].PIDs = []int{pid}
		}
	}
	return out
}

// part gives a quantity that ought to be there: why it is not is remarked on.
func (a *ramp) part(q collect.Quantity, what string) *int64 {
	if q.OK() {
		return &q.Value
	}
	if len(a.held) > 0 {
		a.remark(what + " is not known: " + q.Missing)
	}
	return nil
}

func (a *ramp) quietly(q collect.Quantity) *int64 {
	if q.OK() {
		return &q.Value
	}
	return nil
}

// rest lets the containers be idle and records what they use meanwhile, from
// the snapshot that was taken when they were all ready.
func (a *ramp) rest(ctx context.Context, phase string, from snapshot) {
	a.wait(ctx, a.what.Rest)
	s := record.DensityStep{Phase: phase, Memory: from.memory}
	if a.what.Rest > 0 && !from.virtual && ctx.Err() == nil {
		to := a.footprint(ctx)
		s.Idle = &record.Idle{OverNS: to.at - from.at,
			Payload: less(to.cpu.Payload, from.cpu.Payload), Monitor: less(to.cpu.Monitor, from.cpu.Monitor), Daemon: less(to.cpu.Daemon, from.cpu.Daemon)}
	}
	a.step(s)
}

// less is a difference that is unknown where one of its terms is.
func less(to, from *int64) *int64 {
	if to == nil || from == nil {
		return nil
	}
	d := *to - *from
	return &d
}

// ownPSS is what this process takes.
func ownPSS() (int64, error) {
	self, err := procfs.Self()
	if err != nil {
		return 0, err
	}
	rollup, err := self.ProcSMapsRollup()
	return int64(rollup.Pss), err
}
