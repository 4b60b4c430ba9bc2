//go:build linux

package collect

import (
	"cmp"
	"slices"

	"plimsoll/internal/record"
)

// End takes the last sample and gives the series. request is the event that
// times count from, ns of CLOCK_MONOTONIC; 0 means when Watch was called. For
// the second time it gives an empty series.
func (w *Watch) End(request int64) *Series {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	request = cmp.Or(request, w.begun)
	s := &Series{}
	s.Version, s.Collector, s.IntervalNS, s.Request, s.Columns = record.SeriesVersion, collectorName(w.subject.Role), w.c.beat.interval, request, w.columns
	s.Tail = &record.SeriesTail{}
	if w.done || w.c.closed {
		return s
	}
	w.done = true
	at := now()
	w.c.commonFor(w, at)
	w.sample(at, all)
	s.Rows = w.rows
	for _, row := range s.Rows {
		row[0] -= request
	}
	s.Tail.Missed = w.c.missed - w.missed
	for _, p := range w.shown() {
		p.tell(s.Tail, w.since[p])
	}
	for k, v := range w.failed {
		s.Tail.Failed = put(s.Tail.Failed, k, v)
	}
	if w.wants[Daemon] && w.daemon == nil {
		s.Tail.Absent = put(s.Tail.Absent, "daemon", "the engine has none")
	}
	w.close()
	w.c.watches = slices.DeleteFunc(w.c.watches, func(x *Watch) bool { return x == w })
	w.c.beat.crowd = int64(len(w.c.watches))
	if len(w.c.watches) == 0 {
		w.c.arm(false)
	}
	return s
}

// close lets go of everything that is open. It may be called twice.
func (w *Watch) close() {
	w.unlisten()
	for _, p := range []*panel{w.payload, w.monitor, w.client} {
		p.close()
	}
	if w.daemon != nil {
		w.daemon.watched--
		w.daemon = nil
	}
}

func collectorName(role string) string {
	if role == "" {
		return "machine"
	}
	return "machine-" + role
}
