package view

import (
	"io"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/stats"
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
	{id: "monitor-memory", title: "memory, monitor", part: "monitor", columns: []string{"monitor-pss"}, unit: "bytes", scale: 1},
	{id: "daemon-memory", title: "memory, daemon", part: "daemon", columns: []string{"daemon-pss"}, unit: "bytes", scale: 1},
}

const (
	// machineSeries ends the name of the time series of a trial's machine.
	machineSeries = ".machine.jsonl"
	// maxSeries bounds the time series that are read of a run, and cellSeries
	// those of a cell; seriesBytes bounds all that is read of them.
	maxSeries   = 400
	cellSeries  = 12
	seriesBytes = 96 << 20
	// minSamples is the least that makes a curve.
	minSamples = 4
	// maxGrid bounds the points of a curve before it is thinned.
	maxGrid = 2_000
)

// trace is what one trial has of one curve: running sums where the quantity is
// counted, else levels.
type trace struct {
	at       []int64
	values   []float64
	counter  bool
	interval int64
}

// sampler reads time series: of each cell some, evenly chosen among its trials.
type sampler struct {
	*builder
	every  [][]int // by workload and environment; 0: none
	traces map[[3]int][]trace
	bytes  int64
	failed int
}

func (b *builder) sampler() *sampler {
	s := &sampler{builder: b, traces: map[[3]int][]trace{}, bytes: seriesBytes}
	cells := 0
	for w := range b.res.Workloads {
		for _, c := range b.res.Workloads[w].Counts {
			if c.Trials > c.Failed {
				cells++
			}
		}
	}
	quota := min(max(maxSeries/max(cells, 1), 1), cellSeries)
	left := maxSeries
	for w := range b.res.Workloads {
		row := make([]int, len(b.envs))
		for e, c := range b.res.Workloads[w].Counts {
			if n := c.Trials - c.Failed; n > 0 && left > 0 {
				row[e] = (n + quota - 1) / quota
				left -= quota
			}
		}
		s.every = append(s.every, row)
	}
	return s
}

// take reads the time series of the k-th trial of a cell that worked, where
// that is one of those chosen.
func (s *sampler) take(w, e, k int, t *record.Trial) error {
	if every := s.every[w][e]; every == 0 || k%every != 0 || s.r.Dir() == "" {
		return nil
	}
	for _, name := range t.Samples {
		if !strings.HasSuffix(name, machineSeries) || s.bytes <= 0 {
			continue
		}
		series, err := s.read(name)
		if err != nil {
			s.failed++ // the trial's own numbers stand
			continue
		}
		for i := range drawn {
			if tr := drawn[i].trace(series); len(tr.at) >= minSamples {
				key := [3]int{w, e, i}
				s.traces[key] = append(s.traces[key], tr)
			}
		}
	}
	return nil
}

// read reads a series as far as the bound allows: what is cut off is as if the
// trial had ended there.
func (s *sampler) read(name string) (*record.Series, error) {
	f, err := s.r.Samples(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := &io.LimitedReader{R: f, N: s.bytes}
	series, err := record.ReadSeries(in, name)
	s.bytes = in.N
	return series, err
}

// trace takes a curve's columns out of a series.
func (c *curve) trace(s *record.Series) trace {
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
	return out
}

func measured(s *record.Series, id string) bool {
	at, _ := s.Curve(id)
	return len(at) >= minSamples
}

// curves makes the curves of all workloads, as many as are worth their points.
func (s *sampler) curves() {
	type place struct{ w, e, i int }
	var order []place
	for key := range s.traces {
		order = append(order, place{key[0], key[1], key[2]})
	}
	// The first workload's first quantity, in all environments, comes first.
	slices.SortFunc(order, func(x, y place) int {
		return slices.Compare([]int{x.w, x.i, x.e}, []int{y.w, y.i, y.e})
	})
	type made struct {
		w int
		c Curve
	}
	var all []made
	for _, p := range order {
		c := Curve{Env: p.e, Column: drawn[p.i].id, Title: drawn[p.i].title, Part: drawn[p.i].part, Unit: drawn[p.i].unit}
		if c.draw(s.traces[[3]int{p.w, p.e, p.i}]) {
			all = append(all, made{p.w, c})
		}
	}
	if n := maxCurvePoints / minCurve; len(all) > n {
		s.leave("Of %d time series %d are drawn.", len(all), n)
		all = all[:n]
	}
	if s.failed > 0 {
		s.leave("%d time series could not be read.", s.failed)
	}
	if len(all) == 0 {
		return
	}
	most := min(maxCurve, maxCurvePoints/len(all))
	for _, m := range all {
		m.c.thin(most)
		work := &s.d.Works[m.w]
		work.Curves = append(work.Curves, m.c)
	}
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
	var rows [][]float64
	for _, t := range traces {
		rows = append(rows, t.resample(step, n))
	}
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
	i, _ := slices.BinarySearchFunc(t.at, at, func(a int64, b float64) int {
		switch {
		case float64(a) < b:
			return -1
		case float64(a) > b:
			return 1
		}
		return 0
	})
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
	keep := Thin(c.T, c.V, n)
	c.T, c.V = pick(c.T, keep), pick(c.V, keep)
	if c.Lo != nil {
		c.Lo, c.Hi = pick(c.Lo, keep), pick(c.Hi, keep)
	}
}
