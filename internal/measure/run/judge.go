package run

import (
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// fillInside records what the payload saw, and judges it.
func (s *site) fillInside(t *record.Trial, o *openEnv, said probe.Payload) {
	if len(said.Report) == 0 {
		return
	}
	in := s.insider.read(o.rec.ID, s.insider.inForce(said.Report))
	s.judgeInside(t, o, in)
	id, err := s.writer.AddInside(in)
	if err != nil {
		t.Remarks = append(t.Remarks, err.Error())
		return
	}
	t.Inside = id
}

// judgeClock sets the trial's clock. Where no exchange could be held, the
// first trial decides, and a stamp out of order later decides anew: a foreign
// clock may by chance lie near ours once, a shared one never lies out of order.
func (s *site) judgeClock(t *record.Trial, o *openEnv) {
	if t.Failure != nil {
		return
	}
	fits := ordered(t.Events)
	switch {
	case o.clock == "" && fits:
		o.clock = record.ClockShared
	case !fits && o.clock != record.ClockForeign:
		if o.clock == record.ClockShared {
			t.Remarks = append(t.Remarks, "an inside stamp lies outside the request and the end: the clock is taken for a foreign one from here on")
		}
		o.clock = record.ClockForeign
	}
	t.Clock = o.clock
	o.rec.Clock = o.clock
}

// judgeInside fails a trial whose container was another one than was asked
// for, or than the first of its environment was.
func (s *site) judgeInside(t *record.Trial, o *openEnv, in record.Inside) {
	if t.Failure != nil {
		return
	}
	if why := wrongNetwork(o.rec, in); why != "" {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: why}
		return
	}
	if o.seen == nil {
		o.seen = &in
		return
	}
	if why := differs(*o.seen, in); why != "" {
		t.Failure = &record.Failure{Class: record.WrongComponent, Text: "this container is not like the first of its environment: " + why}
	}
}

// wrongNetwork compares the network asked for with the namespace seen inside.
func wrongNetwork(env *record.Environment, in record.Inside) string {
	got := in.Namespaces["net"]
	if got == "" || env.Baseline != "" {
		return ""
	}
	switch env.Levels[engine.Network] {
	case "none":
		if got == "host" {
			return "network none was asked for, but the container is in the host's network namespace"
		}
	case "host":
		// Behind a foreign kernel the inode says nothing.
		if got == "own" && in.Kernel == proc.Release() {
			return "network host was asked for, but the container is in a network namespace of its own"
		}
	}
	return ""
}
