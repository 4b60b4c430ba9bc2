package factors

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// host is what one host says of the cells that all have.
type host struct {
	own     *Factors
	centers []float64 // of each cell, over blocks
	// err is the squared standard error of a center beside the others of its block, nu
	// the degrees of freedom it is known from; within is the variance between blocks.
	err, nu, within float64
}

// decompose fills in the shares.
func (g *hostGathering) decompose(f *OverHosts, levels [][]int) {
	var all []host
	for _, m := range g.hosts {
		values := m.values()
		h := host{own: &Factors{Factors: f.Factors, Cells: len(m.cells), Blocks: len(m.blocks), Seed: g.seed, Shares: []Share{}}}
		boots := 0
		if !g.opts.Bare {
			boots = h.own.resamples()
		}
		h.own.decompose(values, levels, boots)
		h.read(values)
		all = append(all, h)
	}
	mean := make([]float64, f.Cells)
	for _, h := range all {
		for c, v := range h.centers {
			mean[c] += v / float64(len(all))
		}
	}
	f.Parts = partsOf(all, mean)
	p := []float64{}
	for _, t := range squares(mean, levels) {
		if t.B >= 0 && t.FirstDF == 0 {
			continue // never crossed: there is no such interaction in the plan
		}
		s := HostShare{Factor: f.Factors[t.A].ID}
		if t.B >= 0 {
			s.With = f.Factors[t.B].ID
		}
		for _, h := range all {
			s.Hosts = append(s.Hosts, h.own.shareOf(s.Factor, s.With))
		}
		f.mean(&s)
		p = append(p, math.NaN())
		if t.DF == t.FirstDF && t.DF > 0 {
			p[len(p)-1] = s.depends(all, mean, levels, t)
		}
		f.Shares = append(f.Shares, s)
	}
	for i, holm := range stats.Holm(p) {
		if !math.IsNaN(p[i]) {
			f.Shares[i].P, f.Shares[i].Holm = &p[i], &holm
		}
	}
}

// read takes the centers and the noise from a host's values.
func (h *host) read(values [][]float64) {
	blocks, cells := float64(len(values)), float64(len(values[0]))
	h.centers = make([]float64, len(values[0]))
	all := 0.0
	for _, row := range values {
		for c, v := range row {
			h.centers[c] += v / blocks
			all += v / (blocks * cells)
		}
	}
	rest := 0.0
	for _, row := range values {
		block := 0.0
		for _, v := range row {
			block += v / cells
		}
		for c, v := range row {
			d := v - h.centers[c]
			h.within += d * d / ((blocks - 1) * cells)
			d -= block - all
			rest += d * d
		}
	}
	h.nu = (blocks - 1) * (cells - 1)
	h.err = rest / h.nu / blocks
}

func (f *Factors) shareOf(factor, with string) *sample.Estimate {
	for _, s := range f.Shares {
		if s.Factor == factor && s.With == with {
			return s.Share
		}
	}
	return nil
}

// mean is that of the hosts' shares, by hosts.
func (f *OverHosts) mean(s *HostShare) {
	var values []float64
	for _, e := range s.Hosts {
		if e != nil {
			values = append(values, e.Value)
		}
	}
	if len(values) < stats.MinPool || len(values) < len(s.Hosts) {
		return
	}
	mean, i, ok := stats.TInterval(values, stats.Level)
	s.Mean = sample.NewEstimate(mean, stats.Interval{Lo: max(0, i.Lo), Hi: min(1, i.Hi)}, ok)
}

// squares are the terms of one center a cell.
func squares(centers []float64, levels [][]int) []stats.Term {
	d, ok := stats.Variance([][]float64{centers, centers}, levels, 0, 0)
	for i := range d.Terms {
		d.Terms[i].SS /= 2
		if !ok {
			d.Terms[i].SS = 0
		}
	}
	return d.Terms
}

// depends says which part of a term's squares is the hosts' own, and gives the p of the
// test that none is: squares of the hosts around their mean over the noise of the
// blocks, by F. Hosts are not equally noisy, so that both have fewer degrees of freedom
// than they count (Box, Annals of Mathematical Statistics 25, 1954, 290–302).
func (s *HostShare) depends(all []host, mean []float64, levels [][]int, t stats.Term) float64 {
	var apart, errs, squared, free float64
	for _, h := range all {
		d := make([]float64, len(mean))
		for c := range d {
			d[c] = h.centers[c] - mean[c]
		}
		for _, x := range squares(d, levels) {
			if x.A == t.A && x.B == t.B {
				apart += x.SS
			}
		}
		errs, squared, free = errs+h.err, squared+h.err*h.err, free+h.err*h.err/h.nu
	}
	n, df := float64(len(all)), float64(t.DF)
	own := max(0, apart/((n-1)*df)-errs/n) // the variance between hosts, of one degree
	both := max(0, n*t.SS/df-errs/n-own)   // what is the same on all of them
	if own+both > 0 {
		part := n * own / (both + n*own)
		s.ByHost = &part
	}
	if errs == 0 {
		return math.NaN()
	}
	return distuv.F{D1: (n - 1) * df * errs * errs / (n * squared), D2: errs * errs / free}.Survival(apart / ((n - 1) * df) / (errs / n))
}

// partsOf estimates components from mean squares, hosts and cells crossed; one that
// comes out below 0 is 0. (Searle, Casella & McCulloch, Variance Components, 1992, 4.)
func partsOf(all []host, mean []float64) *Parts {
	n, cells := float64(len(all)), float64(len(mean))
	var middle, hosts, between, rest, within, errs float64
	for _, v := range mean {
		middle += v / cells
	}
	for _, v := range mean {
		between += n * (v - middle) * (v - middle) / (cells - 1)
	}
	for _, h := range all {
		own := 0.0
		for _, v := range h.centers {
			own += v / cells
		}
		hosts += cells * (own - middle) * (own - middle) / (n - 1)
		for c, v := range h.centers {
			d := v - mean[c] - own + middle
			rest += d * d / ((n - 1) * (cells - 1))
		}
		within, errs = within+h.within/n, errs+h.err/n
	}
	p := &Parts{Cells: max(0, (between-rest)/n), Hosts: max(0, (hosts-rest)/cells), Both: max(0, rest-errs), Blocks: within}
	sum := p.Cells + p.Hosts + p.Both + p.Blocks
	if !(sum > 0) {
		return nil
	}
	p.Cells, p.Hosts, p.Both, p.Blocks = p.Cells/sum, p.Hosts/sum, p.Both/sum, p.Blocks/sum
	return p
}
