package stats

import "math"

// basis is a set of orthonormal vectors, all of mean 0.
type basis [][]float64

// independent is the length that a column, of length 1 before, must keep when
// its mean or all others are taken out of it, to count as a direction of its
// own. Columns of indicators keep far more or nothing but rounding errors.
const independent = 1e-8

// with adds columns, by modified Gram–Schmidt, twice for each (Giraud, Langou
// & Rozložník 2005), without those that the basis contains already.
func (q basis) with(columns [][]float64) basis {
	out := q[:len(q):len(q)]
	for _, c := range columns {
		v := make([]float64, len(c))
		mean, length := 0.0, 0.0
		for _, x := range c {
			mean += x / float64(len(c))
		}
		for i, x := range c {
			v[i] = x - mean
			length += v[i] * v[i]
		}
		if length <= independent*independent*dot(c, c) {
			continue
		}
		scale(v, 1/math.Sqrt(length))
		for range 2 {
			for _, u := range out {
				along := dot(u, v)
				for i := range v {
					v[i] -= along * u[i]
				}
			}
		}
		if length = math.Sqrt(dot(v, v)); length > independent {
			scale(v, 1/length)
			out = append(out, v)
		}
	}
	return out
}

// energy is the squared length of y's part in the basis' space.
func (q basis) energy(y []float64) float64 {
	sum := 0.0
	for _, u := range q {
		a := dot(u, y)
		sum += a * a
	}
	return sum
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// indicators has a column of 0 and 1 for each level.
func indicators(level []int) [][]float64 {
	at := map[int]int{}
	var out [][]float64
	for i, l := range level {
		k, ok := at[l]
		if !ok {
			k = len(out)
			at[l] = k
			out = append(out, make([]float64, len(level)))
		}
		out[k][i] = 1
	}
	return out
}

// crossed numbers the pairs of levels of two factors.
func crossed(a, b []int) []int {
	type pair struct{ a, b int }
	at := map[pair]int{}
	out := make([]int, len(a))
	for i := range a {
		p := pair{a[i], b[i]}
		if _, ok := at[p]; !ok {
			at[p] = len(at)
		}
		out[i] = at[p]
	}
	return out
}

// newModel lists the terms and finds the directions of each. Main effects go
// before interactions: in a plan where a factor cannot be told from the
// interaction of two others, it is the factor.
func newModel(factors [][]int, cells int) *model {
	m := &model{cells: cells}
	for a := range factors {
		m.terms = append(m.terms, Term{A: a, B: -1})
	}
	for a := range factors {
		for b := a + 1; b < len(factors); b++ {
			m.terms = append(m.terms, Term{A: a, B: b})
		}
	}
	columns := make([][][]float64, len(m.terms))
	for i, t := range m.terms {
		columns[i] = m.columns(factors, t)
		m.all = m.all.with(columns[i])
		if t.B < 0 {
			m.main = len(m.all)
		}
	}
	for i := range m.terms {
		t := &m.terms[i]
		var margins, others basis
		if t.B >= 0 {
			margins = margins.with(columns[t.A]).with(columns[t.B])
		}
		for k, o := range m.terms {
			if k != i && (t.B >= 0 || o.B < 0) {
				others = others.with(columns[k])
			}
		}
		first, last := margins.with(columns[i])[len(margins):], others.with(columns[i])[len(others):]
		t.FirstDF, t.DF = len(first), len(last)
		m.first, m.last = append(m.first, first), append(m.last, last)
	}
	return m
}

func (m *model) columns(factors [][]int, t Term) [][]float64 {
	if t.B < 0 {
		return indicators(factors[t.A])
	}
	return indicators(crossed(factors[t.A], factors[t.B]))
}
