package view

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// curve is a quantity of which there is a time series to see.
type curve struct {
	id, title, part, unit string
	// columns are added up; either is a second choice where one of them is absent.
	columns []string
	either  string
	// scale is multiplied with; least is the shortest time over which a rate
	// means anything, ns.
	scale float64
	least int64
}

// tick is how finely the kernel counts the processors' times, ns; over a few of
// them a rate is no mere noise.
const tick = 10_000_000

// drawn are in the order in which a page shows them.
var drawn = []curve{
	{id: "payload-cpu", title: "CPU, payload", part: "payload", columns: []string{"payload-cpu"}, unit: "CPUs", scale: 1e-9},
	{id: "payload-memory", title: "memory, payload", part: "payload", columns: []string{"payload-memory"}, either: "payload-pss", unit: "bytes", scale: 1},
	{id: "monitor-cpu", title: "CPU, monitor", part: "monitor", columns: []string{"monitor-cpu"}, unit: "CPUs", scale: 1e-9},
	{id: "daemon-cpu", title: "CPU, daemon", part: "daemon", columns: []string{"daemon-cpu"}, unit: "CPUs", scale: 1e-9},
	{id: "client-cpu", title: "CPU, client", part: "client", columns: []string{"client-cpu"}, unit: "CPUs", scale: 1e-9},
	{id: "host-busy", title: "CPU, machine", part: "host", columns: []string{"host-user", "host-system"}, unit: "CPUs", scale: 1e-9, least: 5 * tick},
	{id: "host-received", title: "received, machine", part: "host", columns: []string{"host-received"}, unit: "bytes/s", scale: 1, least: 5 * tick},
	{id: "host-sent", title: "sent, machine", part: "host", columns: []string{"host-sent"}, unit: "bytes/s", scale: 1, least: 5 * tick},
	{id: "host-block-written", title: "written to disks, machine", part: "host", columns: []string{"host-block-written"}, unit: "bytes/s", scale: 1, least: 5 * tick},
	{id: "monitor-memory", title: "memory, monitor", part: "monitor", columns: []string{"monitor-pss"}, unit: "bytes", scale: 1},
	{id: "daemon-memory", title: "memory, daemon", part: "daemon", columns: []string{"daemon-pss"}, unit: "bytes", scale: 1},
}

// trace is what one trial has of one curve: running sums where the quantity is
// counted, else levels.
type trace struct {
	at       []int64
	values   []float64
	counter  bool
	interval int64
}

// trace takes a curve's columns out of a series of a machine with so many CPUs,
// 0 unknown.
func (c *curve) trace(s *record.Series, cpus int) trace {
	columns := c.columns
	if s.Column(c.either) > 0 && !measured(s, columns[0]) {
		columns = []string{c.either}
	}
	out := trace{interval: max(s.IntervalNS, c.least, 1)}
	var places []int
	for _, id := range columns {
		i := s.Column(id)
		if i < 0 {
			return trace{}
		}
		places, out.counter = append(places, i), s.Columns[i-1].Counter
	}
	for _, row := range s.Rows {
		sum, ok := 0.0, true
		for _, i := range places {
			ok = ok && row[i] != record.NoSample
			sum += float64(row[i])
		}
		if ok && (len(out.at) == 0 || row[0] > out.at[len(out.at)-1]) {
			out.at, out.values = append(out.at, row[0]), append(out.values, sum*c.scale)
		}
	}
	if out.counter && c.unit == "CPUs" && cpus > 0 {
		out.spread(float64(cpus))
	}
	return out
}

// spread moves what was seen late to where it can have been. The time of a
// process is seen when it is found, and the processors' in ticks: more of it
// between two samples than all processors have is of before.
func (t *trace) spread(cpus float64) {
	for i := len(t.at) - 1; i > 0; i-- {
		t.values[i-1] = max(t.values[i-1], t.values[i]-cpus*float64(t.at[i]-t.at[i-1])*1e-9)
	}
}

func measured(s *record.Series, id string) bool {
	at, _ := s.Curve(id)
	return len(at) >= minSamples
}

// draw lays the traces over one grid and takes their quartiles at each of its
// points, as long as half of the trials have one. It says whether there is
// something to see.
func (c *Curve) draw(traces []trace) bool {
	var ends, steps []float64
	for _, t := range traces {
		ends, steps = append(ends, float64(t.at[len(t.at)-1])), append(steps, float64(t.interval))
	}
	end := stats.Median(stats.Sorted(ends))
	step := max(stats.Median(stats.Sorted(steps)), end/maxGrid)
	n := int(end / step)
	rows := lists.Map(traces, func(t trace) []float64 { return t.resample(step, n) })
	seen := false
	for k := range n {
		var v []float64
		for _, r := range rows {
			if !math.IsNaN(r[k]) {
				v = append(v, r[k])
			}
		}
		if 2*len(v) < len(rows) || len(v) == 0 {
			continue
		}
		slices.Sort(v)
		c.T = append(c.T, (float64(k)+0.5)*step*1e-9)
		c.V = append(c.V, stats.Median(v))
		if len(rows) > 2 {
			c.Lo, c.Hi = append(c.Lo, stats.Quantile(v, 0.25)), append(c.Hi, stats.Quantile(v, 0.75))
		}
		seen = seen || v[len(v)-1] != 0
	}
	c.Trials = len(rows)
	return seen && len(c.T) >= minSamples
}

// resample gives n values in the middle of steps, NaN where the trace has none:
// of what is counted the growth over the step as a rate per second, so that
// nothing is lost between samples, of a level the level.
func (t *trace) resample(step float64, n int) []float64 {
	out := make([]float64, n)
	for k := range out {
		if t.counter {
			out[k] = max(0, t.value(float64(k+1)*step)-t.value(float64(k)*step)) / step * 1e9
		} else {
			out[k] = t.value((float64(k) + 0.5) * step)
		}
	}
	return out
}

// value lies on the line between the samples before and after; NaN beyond them.
func (t *trace) value(at float64) float64 {
	i, _ := slices.BinarySearchFunc(t.at, at, func(a int64, b float64) int { return cmp.Compare(float64(a), b) })
	switch {
	case i == len(t.at), i == 0 && float64(t.at[0]) > at:
		return math.NaN()
	case float64(t.at[i]) == at:
		return t.values[i]
	}
	f := (at - float64(t.at[i-1])) / float64(t.at[i]-t.at[i-1])
	return t.values[i-1] + f*(t.values[i]-t.values[i-1])
}

func (c *Curve) thin(n int) {
	keep := thin(c.T, c.V, n)
	c.T, c.V = pick(c.T, keep), pick(c.V, keep)
	if c.Lo != nil {
		c.Lo, c.Hi = pick(c.Lo, keep), pick(c.Hi, keep)
	}
}
