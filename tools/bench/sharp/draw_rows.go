package sharp

import (
	"fmt"
	"math/rand/v2"
	"time"

	"plimsoll/internal/understand/analyze"
)

// drawnRows judges windows that are drawn, so many of each change and length.
func (s *Stretch) drawnRows(lengths []time.Duration, tries int) (out []Row, err error) {
	var inside, across, known []Row
	level := s.leveled()
	earlier, err := level.wholeRuns()
	if err != nil {
		return nil, err
	}
	for k := 1; k < len(s.Changes); k++ {
		for _, length := range lengths {
			row, err := s.drawInside(k, length, tries)
			if err != nil {
				return nil, err
			}
			two, withEarlier, err := level.drawAcross(k, length, tries, earlier)
			if err != nil {
				return nil, err
			}
			inside, across = append(inside, row), append(across, two)
			if withEarlier.Earlier > 0 {
				known = append(known, withEarlier)
			}
		}
	}
	return append(append(inside, across...), known...), nil
}

// seed is that of a row.
func seed(k int, length time.Duration) uint64 { return uint64(k)<<48 ^ uint64(length) }

// source is what windows are drawn from: a program held against another one in a run.
type source struct {
	base      int
	blocks    []Block
	cost      []float64
	rounds    []Round
	roundCost []float64
}

// sources are of each run, with each program that a change is held against.
func (s *Stretch) sources(k int) (out []source) {
	for _, a := range bases(k) {
		for _, r := range s.Runs {
			x := source{base: a, blocks: exactly(r.Blocks, a, k, s.Changes[k]), rounds: exactRounds(r.Rounds, a, k, s.Changes[k]*s.scale())}
			x.cost, x.roundCost = costs(x.blocks, a, k), roundCosts(x.rounds, a, k)
			if sum(x.cost) > 0 && sum(x.roundCost) > 0 {
				out = append(out, x)
			}
		}
	}
	return out
}

// outcome is what both found in one try.
type outcome struct {
	ours, known try
	theirs      theirTry
}

// drawInside tries windows each of which is drawn from one run.
func (s *Stretch) drawInside(k int, length time.Duration, tries int) (Row, error) {
	row := Row{Drawn: true, Change: s.Changes[k], Length: length}
	from, scale := s.sources(k), s.scale()
	if len(from) == 0 {
		return row, nil
	}
	all, err := each(tries, seed(k, length), func(i int, rnd *rand.Rand) (o outcome, err error) {
		x := from[i%len(from)]
		if o.ours, err = within(drawn(rnd, x.blocks, x.cost, length), x.base, k); err != nil {
			return o, err
		}
		rounds := drawn(rnd, x.rounds, x.roundCost, length)
		o.theirs = benchstatOf(pooled(rounds, x.base), pooled(rounds, k), scale)
		return o, nil
	})
	if err != nil {
		return row, err
	}
	ours, theirs := newTally(s.Changes[k]), newTally(s.Changes[k])
	var blocks, rounds []int
	for _, r := range s.Runs {
		blocks, rounds = append(blocks, len(r.Blocks)), append(rounds, len(r.Rounds))
	}
	ours.nu, theirs.nu = freedom(blocks...), freedom(rounds...)
	for _, o := range all {
		ours.ours(o.ours)
		theirs.theirs(o.theirs)
	}
	row.Ours, row.Theirs = ours.found(), theirs.found()
	return row, nil
}

// wholeRuns are all runs as those that history knows of one thing.
func (s *Stretch) wholeRuns() ([]*analyze.Result, error) {
	out := make([]*analyze.Result, len(s.Runs))
	for i, r := range s.Runs {
		var err error
		if out[i], err = resultOf(fmt.Sprintf("earlier-%d", i), r.Blocks, besides(0, len(s.Changes)), nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// leastEarlier is from how many earlier runs on compare knows how runs scatter.
const leastEarlier = 4

// drawAcross tries windows of two runs: BASE is drawn from one, NEW from another. The
// second row is of the same tries with all other runs as earlier ones, where they are
// enough.
func (s *Stretch) drawAcross(k int, length time.Duration, tries int, runs []*analyze.Result) (row, known Row, err error) {
	row = Row{Drawn: true, Between: true, Change: s.Changes[k], Length: length}
	n, scale := len(s.Changes), s.scale()
	type pair struct {
		base    *Run
		blocks  []Block // of NEW
		rounds  []Round
		earlier []*analyze.Result
	}
	var pairs []pair
	for j, next := range s.Runs {
		blocks, rounds := exactly(next.Blocks, 0, k, s.Changes[k]), exactRounds(next.Rounds, 0, k, s.Changes[k]*scale)
		for i, base := range s.Runs {
			p := pair{base: base, blocks: blocks, rounds: rounds}
			least := min(sum(costs(base.Blocks, 0, n, n+1)), sum(costs(blocks, k)), sum(roundCosts(base.Rounds, 0)), sum(roundCosts(rounds, k)))
			if i == j || least <= 0 {
				continue
			}
			for e, r := range runs {
				if e != i && e != j {
					p.earlier = append(p.earlier, r)
				}
			}
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return row, known, nil
	}
	withEarlier := len(runs)-2 >= leastEarlier
	all, err := each(tries, seed(k, length)+1, func(i int, rnd *rand.Rand) (o outcome, err error) {
		p := pairs[i%len(pairs)]
		base, err := baseOf(drawn(rnd, p.base.Blocks, costs(p.base.Blocks, 0, n, n+1), length), n)
		if err != nil {
			return o, err
		}
		next := newRun(drawn(rnd, p.blocks, costs(p.blocks, k, n, n+1), length), k, n)
		if o.ours, err = next.against(base, nil); err != nil {
			return o, err
		}
		if withEarlier {
			if o.known, err = next.against(base, p.earlier); err != nil {
				return o, err
			}
		}
		o.theirs = benchstatOf(pooled(drawn(rnd, p.base.Rounds, roundCosts(p.base.Rounds, 0), length), 0),
			pooled(drawn(rnd, p.rounds, roundCosts(p.rounds, k), length), k), scale)
		return o, nil
	})
	if err != nil {
		return row, known, err
	}
	ours, theirs, told := newTally(s.Changes[k]), newTally(s.Changes[k]), newTally(s.Changes[k])
	for _, t := range []*tally{ours, theirs, told} {
		t.apart = len(s.Runs) - 1
	}
	for _, o := range all {
		ours.ours(o.ours)
		if withEarlier {
			told.ours(o.known)
		}
		theirs.theirs(o.theirs)
	}
	row.Ours, row.Theirs = ours.found(), theirs.found()
	if withEarlier {
		known = row
		known.Earlier, known.Ours = len(runs)-2, told.found()
	}
	return row, known, nil
}
