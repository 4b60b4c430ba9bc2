package run

import (
	"context"
	"io"
	"slices"
	"time"

	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// watching samples the machine while trials run.
type watching struct {
	collector *collect.Collector
	// known are the engines' own processes, by environment.
	known map[*openEnv]collect.Subject
}

// defaultHz is how often a benchmark is sampled where the study does not say.
const defaultHz = 10

// startWatching makes the collector that the study asks for: by default for
// workloads from files only, since what is sampled while a container starts
// is part of what it shares the machine with.
func (r *runner) startWatching(ctx context.Context, jobs []job) error {
	hz := r.rec.Protocol.CollectHz
	if hz < 0 {
		return nil
	}
	asked := hz > 0
	if !asked {
		hz = defaultHz
	}
	needed := false
	for i, j := range jobs {
		cell := r.Plan.Cells[i]
		if !r.protocol(j.Instance).watched(asked) {
			continue
		}
		needed = true
		w := &r.rec.Workloads[cell.Workload]
		w.Metrics = withMetrics(w.Metrics, sampledMetrics())
	}
	if !needed {
		return nil
	}
	c, err := collect.New(collect.Options{
		Interval: time.Duration(float64(time.Second) / hz), Processes: r.processes})
	if err != nil {
		return err
	}
	r.watching = &watching{collector: c, known: map[*openEnv]collect.Subject{}}
	for _, o := range r.session.sorted() {
		if o.virtual {
			continue
		}
		s := collect.Of(ctx, o.env, "", nil)
		if err := c.Know(s); err != nil {
			r.progress.Remark(o.rec.ID + ": the engine's own processes are not watched: " + err.Error())
		}
		r.watching.known[o] = s
	}
	return nil
}

// headlines are the metrics of sampling that a reader is likely to look for.
var headlines = []string{"payload-cpu", "payload-memory-peak", "monitor-cpu", "monitor-pss", "daemon-cpu", "daemon-pss-growth", "energy"}

func sampledMetrics() []record.Metric {
	all := collect.Metrics()
	for i := range all {
		all[i].Kind = record.Detail
		if slices.Contains(headlines, all[i].ID) {
			all[i].Kind = record.Sampled
		}
	}
	return all
}

// withMetrics adds those that are not there yet.
func withMetrics(have, more []record.Metric) []record.Metric {
	out := slices.Clone(have)
	for _, m := range more {
		if !slices.ContainsFunc(have, func(h record.Metric) bool { return h.ID == m.ID }) {
			out = append(out, m)
		}
	}
	return out
}

// watchesStarts says whether trials of the life cycle are watched too.
func (s *site) watchesStarts() bool { return s.watching != nil && s.rec.Protocol.CollectHz > 0 }

// begin begins a series right before a request; nil watches nothing.
func (w *watching) begin(o *openEnv, role, word string, held engine.Held) *collect.Watch {
	if w == nil || o.virtual {
		return nil
	}
	s := w.known[o]
	s.Role, s.Word = role, word
	if held != nil {
		if pid := held.Place().PID; pid > 0 {
			s.PIDs = []int{pid}
		}
	}
	return w.collector.Watch(s)
}

// keepWatched writes a finished series beside the record and puts its sums into the
// trial's values where it is the measured role's.
func (s *site) keepWatched(t *record.Trial, series *collect.Series, measured bool) {
	if series == nil {
		return
	}
	s.keepSamples(t, "its time series", series.Name(), func(w io.Writer) error { return record.WriteSeries(w, &series.Series) })
	if !measured || !t.OK() {
		return
	}
	for id, v := range series.Values() {
		if t.Values == nil {
			t.Values = map[string]float64{}
		}
		if _, there := t.Values[id]; !there {
			t.Values[id] = v
		}
	}
}

// ended ends a series that may never have begun.
func ended(w *collect.Watch, request int64) *collect.Series {
	if w == nil {
		return nil
	}
	return w.End(request)
}

func (w *watching) close() error {
	if w == nil {
		return nil
	}
	return w.collector.Close()
}
