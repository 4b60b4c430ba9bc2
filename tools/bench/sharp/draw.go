package sharp

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"plimsoll/internal/common/stats"
)

// A gate of five minutes does not fit into a run of one, and of what fits there are too
// few. So windows are also put together of stretches of the run, each of several whole
// blocks in a row, drawn with replacement (Künsch 1989, Annals of Statistics 17,
// 1217–1241): pairs stay pairs, and neighbours neighbours.

// together is how many of n blocks in a row are drawn at once: of more there would be
// too few stretches, of fewer neighbours would not be alike any more.
func together(n int) int { return max(1, int(math.Round(math.Sqrt(float64(n))))) }

// freedom is how many degrees of freedom the scatter of stretches has, each run having
// its own centre.
func freedom(lengths ...int) (nu float64) {
	for _, n := range lengths {
		if n > 0 {
			nu += float64(n)/float64(together(n)) - 1
		}
	}
	return nu
}

// widened is how much farther than they were, stretches have to lie from the centre of
// their run: it is their own.
func widened(n int) float64 {
	l := together(n)
	if n <= l {
		return 1
	}
	return math.Sqrt(float64(n) / float64(n-l))
}

// drawn is a window of a length, put together of stretches. Nothing where nothing took
// any time.
func drawn[T any](rnd *rand.Rand, all []T, cost []float64, length time.Duration) (out []T) {
	if len(all) == 0 || sum(cost) <= 0 {
		return nil
	}
	l := together(len(all))
	for took := 0.0; ; {
		from := rnd.IntN(len(all) - l + 1)
		for i := from; i < from+l; i++ {
			out = append(out, all[i])
			if took += cost[i]; took >= float64(length) {
				return out
			}
		}
	}
}

// pairLogs is by how much a program is slower than another in each block that has both.
func pairLogs(blocks []Block, a, k int) (d []float64) {
	for _, b := range blocks {
		if b.Start[a] > 0 && b.Start[k] > 0 {
			d = append(d, math.Log(b.Start[k])-math.Log(b.Start[a]))
		}
	}
	return d
}

// exactly are the blocks of a run in which k is slower than a by as much as was meant.
// What a run of some minutes found of a change is off by more than a gate of five of
// them would be, so that drawn windows would tell of that error alone.
func exactly(blocks []Block, a, k int, change float64) []Block {
	d := pairLogs(blocks, a, k)
	if len(d) == 0 {
		return nil
	}
	is, wide := stats.HodgesLehmann(d), widened(len(blocks))
	out := slices.Clone(blocks)
	for i := range out {
		start := slices.Clone(out[i].Start)
		if start[k] > 0 {
			off := 0.0
			if start[a] > 0 {
				off = math.Log(start[k]) - math.Log(start[a]) - is
			}
			start[k] *= math.Exp(math.Log1p(change) - is + (wide-1)*off)
		}
		out[i].Start = start
	}
	return out
}

// exactRounds does the same to hyperfine's rounds.
func exactRounds(rounds []Round, a, k int, change float64) []Round {
	is, wide := logShift(pooled(rounds, a), pooled(rounds, k)), widened(len(rounds))
	if math.IsNaN(is) {
		return nil
	}
	out := slices.Clone(rounds)
	for i := range out {
		off := 0.0
		if own := logShift(rounds[i].Times[a], rounds[i].Times[k]); !math.IsNaN(own) {
			off = own - is
		}
		by := math.Exp(math.Log1p(change) - is + (wide-1)*off)
		out[i].Times = slices.Clone(rounds[i].Times)
		out[i].Times[k] = nil
		for _, t := range rounds[i].Times[k] {
			out[i].Times[k] = append(out[i].Times[k], t*by)
		}
	}
	return out
}

// each carries out tries on all processors. Each has random numbers of its own, so that
// it comes out the same wherever it runs.
func each[T any](n int, seed uint64, try func(i int, rnd *rand.Rand) (T, error)) ([]T, error) {
	out := make([]T, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() (err error) {
			out[i], err = try(i, rand.New(rand.NewPCG(seed, uint64(i))))
			return err
		})
	}
	return out, g.Wait()
}
