package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
)

// BlockBreaks finds change points along things in a fixed order, such as releases,
// each of which was measured once in every block: series[s][b][i] is the value of
// thing i in block b. NaN is a value that is missing; a block without all values of a
// stretch says nothing of that stretch.
//
// It goes as Breaks does: the best break of a series, tested by permutations, then
// likewise in the parts, all series one family by single-step maxT. But what is
// permuted are the things inside each block, which is what chance did when it drew
// the order of the block, so that the blocks' own differences cost nothing. What is
// compared are aligned ranks: each value less the median of its block, ranked over
// all blocks (Hodges & Lehmann 1962, Ann. Math. Statist. 33, 482–497). Of two things
// that is close to the signed-rank test.
func BlockBreaks(series [][][]float64, o BreakOptions) [][]Break {
	o.Alpha = cmp.Or(o.Alpha, 0.05)
	o.Permutations = cmp.Or(o.Permutations, 999)
	out := make([][]Break, len(series))
	things := 0
	var open []stretch
	for s, blocks := range series {
		for _, b := range blocks {
			things = max(things, len(b))
		}
		open = append(open, newStretch(s, blocks, measured(blocks)))
	}
	for round := uint64(0); ; round++ {
		var family []stretch
		for _, p := range open {
			if p.at, p.z = p.divide(p.sums(nil)); p.at > 0 {
				family = append(family, p)
			}
		}
		if len(family) == 0 {
			break
		}
		hits := shuffled(family, things, o, round)
		open = open[:0]
		for f, p := range family {
			share := float64(hits[f]+1) / float64(o.Permutations+1)
			if share > o.Alpha {
				continue
			}
			out[p.series] = append(out[p.series], Break{At: p.things[p.at], P: share})
			for _, part := range [][]int{p.things[:p.at], p.things[p.at:]} {
				open = append(open, newStretch(p.series, series[p.series], part))
			}
		}
	}
	for _, b := range out {
		slices.SortFunc(b, func(x, y Break) int { return x.At - y.At })
	}
	return out
}

// Rarely is the share of the blocks in which a thing must have a value, to be among
// those that are compared: else it would take the blocks away from all others.
const Rarely = 0.5

// measured are the things that have values in enough blocks.
func measured(blocks [][]float64) (out []int) {
	n := map[int]int{}
	most := 0
	for _, b := range blocks {
		for i, v := range b {
			if !math.IsNaN(v) {
				n[i]++
			}
			most = max(most, i+1)
		}
	}
	for i := range most {
		if float64(n[i]) > Rarely*float64(len(blocks)) {
			out = append(out, i)
		}
	}
	return out
}

// stretch is a part of a series that may hold a break, before things[at].
type stretch struct {
	series int
	things []int
	ranks  [][]float64 // by block: those that have all values
	spread float64     // the variance of a contrast with weights of which the squares add up to 1
	at     int
	z      float64
}

func newStretch(series int, blocks [][]float64, things []int) stretch {
	p := stretch{series: series, things: things}
	n := len(things)
	if n < 2 {
		return p
	}
	var all []float64
	var aligned [][]float64
blocks:
	for _, b := range blocks {
		row := make([]float64, n)
		for k, i := range things {
			if i >= len(b) || math.IsNaN(b[i]) {
				continue blocks
			}
			row[k] = b[i]
		}
		middle := Median(Sorted(row))
		for k := range row {
			row[k] -= middle
		}
		aligned, all = append(aligned, row), append(all, row...)
	}
	sorted := Sorted(all)
	for _, row := range aligned {
		mean := 0.0
		for k, v := range row {
			row[k] = midrank(sorted, v)
			mean += row[k] / float64(n)
		}
		for _, r := range row {
			p.spread += (r - mean) * (r - mean) / float64(n-1)
		}
	}
	p.ranks = aligned
	return p
}

// midrank is the mean of the ranks of a value among all.
func midrank(sorted []float64, v float64) float64 {
	first, _ := slices.BinarySearch(sorted, v)
	last := first
	for last < len(sorted) && sorted[last] == v {
		last++
	}
	return float64(first+last+1) / 2
}

// sums adds up the ranks of each thing: in each block as they are, or in the order
// that is given for it.
func (p *stretch) sums(orders [][]int) []float64 {
	out := make([]float64, len(p.things))
	for b, row := range p.ranks {
		for k := range row {
			if orders == nil {
				out[k] += row[k]
			} else {
				out[k] += row[orders[b][k]]
			}
		}
	}
	return out
}

// divide finds the best break: k and e with the largest contrast between the things
// before k and those from k to e. That e need not be the end keeps a later break
// from hiding this one. k is 0 where there is none.
func (p *stretch) divide(sums []float64) (k int, z float64) {
	n := len(sums)
	if n < 2 || !(p.spread > 0) {
		return 0, 0
	}
	total := make([]float64, n+1)
	for i, v := range sums {
		total[i+1] = total[i] + v
	}
	for m := 1; m < n; m++ {
		for e := m + 1; e <= n; e++ {
			a, b := float64(m), float64(e-m)
			v := math.Abs(total[m]/a-(total[e]-total[m])/b) / math.Sqrt(p.spread*(1/a+1/b))
			if v > z {
				k, z = m, v
			}
		}
	}
	return k, z
}

// shuffled counts, for each stretch of the family, the permutations in which the
// largest contrast of the family reaches the stretch's own. A permutation is the same
// one in all series, block by block, so that what they have in common stays.
func shuffled(family []stretch, things int, o BreakOptions, round uint64) (hits []int) {
	largest := make([]float64, o.Permutations)
	blocks := 0
	for _, p := range family {
		blocks = max(blocks, len(p.ranks))
	}
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for r := w; r < len(largest); r += workers {
				rng := rand.New(rand.NewPCG(o.Seed+round<<32, uint64(r)))
				orders := make([][]int, blocks)
				for b := range orders {
					orders[b] = rng.Perm(things)
				}
				for f := range family {
					_, z := family[f].divide(family[f].sums(within(orders, family[f].things)))
					largest[r] = max(largest[r], z)
				}
			}
		})
	}
	wg.Wait()
	hits = make([]int, len(family))
	for f, p := range family {
		for _, z := range largest {
			if z >= p.z*(1-1e-9) { // the same sum in another order
				hits[f]++
			}
		}
	}
	return hits
}

// within are the orders of some of the things, as those of all have them.
func within(orders [][]int, things []int) [][]int {
	if len(orders) == 0 {
		return nil
	}
	place := slices.Repeat([]int{-1}, len(orders[0]))
	for k, i := range things {
		place[i] = k
	}
	out := make([][]int, len(orders))
	all := make([]int, 0, len(orders)*len(things))
	for b, order := range orders {
		from := len(all)
		for _, i := range order {
			if k := place[i]; k >= 0 {
				all = append(all, k)
			}
		}
		out[b] = all[from:]
	}
	return out
}
