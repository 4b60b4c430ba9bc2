package run

import (
	"time"

	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// observe carries out what a trial measures, and notes when it began and what
// disturbed the host meanwhile.
func (s *site) observe(o *openEnv, t *record.Trial, measured func()) {
	if o.virtual {
		t.At = time.Now()
		measured()
		return
	}
	s.agents.begin(t.Seq)
	before := usageNow()
	throttled := s.throttling(o)
	s.disturb.Begin()
	t.At = time.Now()
	measured()
	t.Host = s.disturb.End()
	t.Host.ThrottledNS = throttled.since()
	own := s.own()
	timed := own.Timed
	before.addTo(&own.TimedCPU, &own.Timed)
	s.patience.took.add(time.Duration(own.Timed - timed))
	s.agents.end()
}

// stampInside puts the payload's own stamps beside those from outside.
func stampInside(t *record.Trial, said probe.Payload) {
	if t.Events == nil {
		t.Events = map[record.Event]int64{}
	}
	t.Events[record.First] = said.First
	if said.Done != 0 {
		t.Events[record.Done] = said.Done
	}
}
