package view

import (
	"maps"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
)

// The bounds below make the data small whatever the run: each is of numbers or
// texts that take some ten bytes of JSON, half of that when compressed.
const (
	// defaultPoints bounds the values that are shown one by one.
	defaultPoints = 20_000
	// maxCells bounds the cells of all tables, maxDists those that have
	// quantiles.
	maxCells = 12_000
	maxDists = 3_000
	// maxFailed is about how many failed trials are listed.
	maxFailed = 2_000
	// maxCurvePoints bounds the points of all time series, and those of density
	// and load, together; maxCurve those of one, minCurve is the least that is
	// worth being drawn.
	maxCurvePoints = 24_000
	maxCurve       = 300
	minCurve       = 30
	maxRemarks     = 1_000
	maxExcluded    = 1_000
	// maxPairs bounds the pairs of one claim, maxProbes the rates tried by all
	// loads.
	maxPairs  = 50
	maxProbes = 2_000
	// maxCourses bounds the environments whose starts were followed, maxTraces how
	// many of each are read, and maxBars the pieces that are drawn of each.
	maxCourses = 4
	maxTraces  = 25
	maxBars    = 30_000
	// maxText bounds a text in bytes, maxNote one that every cell may have.
	maxText = 4_000
	maxNote = 300
)

// bound cuts the lists that grow with the run and that are not drawn.
func (b *builder) bound() {
	d := b.d
	d.Remarks = b.shownFirst(b.res.Remarks)
	if n := len(d.Remarks); n > maxRemarks {
		d.Remarks = d.Remarks[:maxRemarks]
		b.leave("Of %d remarks the first %d are here; the format json has all.", n, maxRemarks)
	}
	for i := range d.Remarks {
		d.Remarks[i].Text = clip(d.Remarks[i].Text, 2*maxNote)
	}
	d.Excluded = b.res.Excluded
	if n := len(d.Excluded); n > maxExcluded {
		d.Excluded = d.Excluded[:maxExcluded]
		b.leave("Of %d combinations that could not run the first %d are here.", n, maxExcluded)
	}
	if d.Features != nil {
		for _, row := range d.Features.Rows {
			for _, cell := range row.Cells {
				for i := range cell.Evidence {
					cell.Evidence[i].Output = clip(cell.Evidence[i].Output, 2*maxNote)
				}
			}
		}
	}
	b.boundFindings()
	b.boundOverheads()
	b.thinProtocols()
}

// shownFirst gives the remarks of the run and of what is shown first before
// those of other metrics.
func (b *builder) shownFirst(all []record.Remark) []record.Remark {
	first, rest := []record.Remark{}, []record.Remark{}
	for _, m := range all {
		if b.shown(m) {
			first = append(first, m)
		} else {
			rest = append(rest, m)
		}
	}
	return append(first, rest...)
}

// shown says whether a remark belongs to the run, to a cell as a whole or to a
// metric that is shown first.
func (b *builder) shown(m record.Remark) bool { return shown(b.res, m) }

func shown(res *analyze.Result, m record.Remark) bool {
	if m.Metric == "" {
		return true
	}
	w := res.Workload(m.Workload)
	return w != nil && slices.Contains(w.Show, m.Metric)
}

func (b *builder) boundFindings() {
	if b.d.Findings == nil {
		return
	}
	f := *b.d.Findings
	f.Claims = slices.Clone(f.Claims)
	cut := 0
	for i := range f.Claims {
		if n := len(f.Claims[i].Pairs); n > maxPairs {
			f.Claims[i].Pairs = f.Claims[i].Pairs[:maxPairs]
			cut++
		}
	}
	if cut > 0 {
		b.leave("Of %d findings only the first %d comparisons are here; `plimsoll findings` has all.", cut, maxPairs)
	}
	b.d.Findings = &f
}

// boundOverheads leaves the heat maps beyond the first where they are large.
func (b *builder) boundOverheads() {
	cells := 0
	for i, o := range b.d.Overheads {
		if cells += len(o.Rows) * len(o.Environments); cells > maxCells {
			i = max(i, 1)
			if i < len(b.d.Overheads) {
				b.leave("The overhead against %s and later baselines is left out.", b.d.Overheads[i].Baseline)
				b.d.Overheads = b.d.Overheads[:i]
			}
			return
		}
	}
}

// thinProtocols thins the curves of density and load trials, which it copies
// first: the result is not ours.
func (b *builder) thinProtocols() {
	for w := range b.d.Works {
		work := &b.d.Works[w]
		work.Density, work.Load = slices.Clone(work.Density), slices.Clone(work.Load)
		for i := range work.Density {
			c := &work.Density[i]
			c.Starts, c.Stops = copied(c.Starts), copied(c.Stops)
			c.Memory, c.Down = maps.Clone(c.Memory), maps.Clone(c.Down)
		}
		for i := range work.Load {
			work.Load[i].Queue = copied(work.Load[i].Queue)
		}
	}
	probes := 0
	for w := range b.d.Works {
		for i := range b.d.Works[w].Load {
			c := &b.d.Works[w].Load[i]
			if probes += len(c.Probes); probes > maxProbes {
				c.Probes = nil
			}
		}
	}
	if probes > maxProbes {
		b.leave("Of %d rates that were tried the first %d are here.", probes, maxProbes)
	}
	n := 0
	each := func(f func(x, y *[]float64)) {
		for w := range b.d.Works {
			for i := range b.d.Works[w].Density {
				c := &b.d.Works[w].Density[i]
				for _, p := range []*density.Points{c.Starts, c.Stops} {
					if p != nil {
						f(&p.N, &p.Y)
					}
				}
				for _, m := range []map[string]density.Points{c.Memory, c.Down} {
					for k, p := range m {
						f(&p.N, &p.Y)
						m[k] = p
					}
				}
			}
			for i := range b.d.Works[w].Load {
				if q := b.d.Works[w].Load[i].Queue; q != nil {
					f(&q.Seconds, &q.InFlight)
				}
			}
		}
	}
	each(func(_, _ *[]float64) { n++ })
	if n == 0 {
		return
	}
	most := min(max(maxCurvePoints/n, minCurve), maxCurve)
	each(func(x, y *[]float64) {
		keep := thin(*x, *y, most)
		*x, *y = pick(*x, keep), pick(*y, keep)
	})
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

func pick(x []float64, at []int) []float64 {
	out := make([]float64, len(at))
	for i, k := range at {
		out[i] = x[k]
	}
	return out
}
