package sharp

import (
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"
	"time"

	"plimsoll/internal/understand/analyze"
)

// checked is how right the drawn shares of a simulated machine are.
type checked struct {
	machine string
	what    string
	change  float64
	// truth is the share of new windows of new runs, drawn the mean of the drawn shares
	// of many stretches, and held in how many of so many stretches the interval holds the
	// truth.
	truth, drawn float64
	held, of     int
}

// The simulated stretch: runs so short that none of their windows is as long as those
// that are drawn.
const (
	checkRuns   = 6
	checkBlocks = 100 // in a run
	checkWindow = 250
)

// reading is how often one of the two found a change, with its interval.
type reading struct {
	what string
	Share
}

// readings are all shares of rows of one change.
func readings(rows []Row) (out []reading) {
	for _, r := range rows {
		where := map[bool]string{false: "inside", true: "between"}[r.Between]
		if r.Earlier > 0 {
			where = "between, by earlier"
		}
		out = append(out, reading{where + ": p < 5 %", r.Ours.Told})
		for i, s := range r.Ours.Beyond {
			out = append(out, reading{where + ": gate at " + percent(thresholds[i]), s})
		}
		if r.Earlier == 0 {
			out = append(out, reading{where + ": hyperfine, p < 5 %", r.Theirs.Told})
			for i, s := range r.Theirs.Beyond {
				out = append(out, reading{where + ": hyperfine beyond " + percent(thresholds[i]), s})
			}
		}
	}
	return out
}

// checkOf simulates so many stretches of a machine with a change, and as many new
// windows for the truth; of two runs only where across is set.
func checkOf(m machine, change float64, stretches, fresh, tries int, across bool) ([]checked, error) {
	length := time.Duration(checkWindow * 2 * simWall)
	truth, err := each(fresh, 1, func(_ int, rnd *rand.Rand) ([]reading, error) {
		rows, err := m.fresh(rnd, change)
		if across && err == nil {
			var two []Row
			two, err = m.freshAcross(rnd, change, length)
			rows = append(rows, two...)
		}
		return readings(rows), err
	})
	if err != nil {
		return nil, err
	}
	var out []checked
	for i, t := range truth[0] {
		c := checked{machine: m.name, what: t.what, change: change}
		for _, one := range truth {
			c.truth += float64(one[i].Hit)
		}
		c.truth /= float64(fresh)
		out = append(out, c)
	}
	for n := range stretches {
		s := m.stretch(rand.New(rand.NewPCG(2, uint64(n))), checkRuns, checkBlocks, 0, 0, change)
		row, err := s.drawInside(2, length, tries)
		if err != nil {
			return nil, err
		}
		rows := []Row{row}
		if across {
			level := s.leveled()
			earlier, err := level.wholeRuns()
			if err != nil {
				return nil, err
			}
			two, known, err := level.drawAcross(2, length, tries, earlier)
			if err != nil {
				return nil, err
			}
			rows = append(rows, two, known)
		}
		for i, r := range readings(rows) {
			c := &out[i]
			c.drawn += float64(r.Hit) / float64(r.N) / float64(stretches)
			c.of++
			if r.Lo <= c.truth && c.truth <= r.Hi {
				c.held++
			}
		}
	}
	return out, nil
}

// fresh is one window of a run that nothing else knows.
func (m machine) fresh(rnd *rand.Rand, change float64) ([]Row, error) {
	s := m.stretch(rnd, 1, checkWindow, 0, 0, change)
	inside, err := within(s.Runs[0].Blocks, 0, 2)
	if err != nil {
		return nil, err
	}
	ours, theirs := newTally(change), newTally(change)
	ours.ours(inside)
	theirs.theirs(benchstatOf(pooled(s.Runs[0].Rounds, 0), pooled(s.Runs[0].Rounds, 2), s.scale()))
	return []Row{{Ours: ours.found(), Theirs: theirs.found()}}, nil
}

// freshAcross are windows of two runs, without and with earlier ones.
func (m machine) freshAcross(rnd *rand.Rand, change float64, length time.Duration) ([]Row, error) {
	// Of one program twice as much fits as of two; NEW and its baselines are three.
	s := m.stretch(rnd, 2, 2*checkWindow, 0, 0, change)
	earlier, err := m.stretch(rnd, checkRuns-2, checkBlocks, 0, 0, change).wholeRuns()
	if err != nil {
		return nil, err
	}
	n := len(s.Changes)
	blocks := func(r *Run, env int) []Block { return r.Blocks[:fitsIn(costs(r.Blocks, env, n, n+1), length)] }
	base, err := baseOf(blocks(s.Runs[0], 0), n)
	if err != nil {
		return nil, err
	}
	ours, known, theirs := newTally(change), newTally(change), newTally(change)
	next := newRun(blocks(s.Runs[1], 2), 2, n)
	for _, by := range []struct {
		t       *tally
		earlier []*analyze.Result
	}{{ours, nil}, {known, earlier}} {
		w, err := next.against(base, by.earlier)
		if err != nil {
			return nil, err
		}
		by.t.ours(w)
	}
	theirs.theirs(benchstatOf(pooled(s.Runs[0].Rounds, 0), pooled(s.Runs[1].Rounds, 2), s.scale()))
	return []Row{{Between: true, Ours: ours.found(), Theirs: theirs.found()}, {Between: true, Earlier: checkRuns - 2, Ours: known.found()}}, nil
}

// fitsIn is how many of the first blocks take at least so long.
func fitsIn(cost []float64, length time.Duration) int {
	took := 0.0
	for i, c := range cost {
		if took += c; took >= float64(length) {
			return i + 1
		}
	}
	return len(cost)
}

// check prints how right drawn shares are.
func check(w io.Writer, stretches, tries int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "machine\tchange\tshare of\tof new runs\tdrawn\tintervals that hold it")
	for _, m := range machines() {
		for _, change := range []float64{0, 0.02} {
			all, err := checkOf(m, change, stretches, max(400, 4*stretches), tries, true)
			if err != nil {
				return err
			}
			for _, c := range all {
				fmt.Fprintf(t, "%s\t%s\t%s\t%.1f\t%.1f\t%d of %d\n", c.machine, percent(c.change), c.what, 100*c.truth, 100*c.drawn, c.held, c.of)
			}
		}
	}
	return t.Flush()
}
