package view

import (
	"io"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

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

// sampler chooses time series: of each cell some, evenly among its trials.
type sampler struct {
	*builder
	cells  map[[2]int]*choice // by workload and environment
	traces map[[3]int][]trace
	bytes  int64
	failed int
}

// choice is every n-th of a cell's time series, n being a power of two.
type choice struct {
	names      []string
	seen, each int
}

func (b *builder) sampler() *sampler {
	return &sampler{builder: b, cells: map[[2]int]*choice{}, traces: map[[3]int][]trace{}, bytes: seriesBytes}
}

func (s *sampler) take(w, e int, t *record.Trial) {
	for _, name := range t.Samples {
		if !strings.HasSuffix(name, machineSeries) {
			continue
		}
		c := s.cells[[2]int{w, e}]
		if c == nil {
			c = &choice{each: 1}
			s.cells[[2]int{w, e}] = c
		}
		c.take(name)
	}
}

func (c *choice) take(name string) {
	c.seen++
	if (c.seen-1)%c.each != 0 {
		return
	}
	if len(c.names) == 2*cellSeries {
		for i := range cellSeries {
			c.names[i] = c.names[2*i]
		}
		c.names, c.each = c.names[:cellSeries], 2*c.each
		if (c.seen-1)%c.each != 0 {
			return
		}
	}
	c.names = append(c.names, name)
}

// load reads what was chosen, fewer of each cell where there are many.
func (s *sampler) load() {
	keys := slices.SortedFunc(maps.Keys(s.cells), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	if n := len(keys); n > maxSeries {
		s.leave("Of %d cells with time series %d are drawn.", n, maxSeries)
		keys = keys[:maxSeries]
	}
	quota := min(maxSeries/max(len(keys), 1), cellSeries)
	for _, key := range keys {
		names := s.cells[key].names
		for k := range min(quota, len(names)) {
			s.read(key[0], key[1], names[k*len(names)/min(quota, len(names))])
		}
	}
}

// read reads a series as far as the bound allows: what is cut off is as if the
// trial had ended there.
func (s *sampler) read(w, e int, name string) {
	if s.bytes <= 0 {
		return
	}
	series, err := s.series(name)
	if err != nil {
		s.failed++ // the trial's own numbers stand
		return
	}
	for i := range drawn {
		if tr := drawn[i].trace(series, s.res.Run.Host.CPUs); len(tr.at) >= minSamples {
			key := [3]int{w, e, i}
			s.traces[key] = append(s.traces[key], tr)
		}
	}
}

func (s *sampler) series(name string) (*record.Series, error) {
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

// curves makes the curves of all workloads, as many as are worth their points.
func (s *sampler) curves() {
	s.load()
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
