package sharp

import (
	"slices"
	"time"

	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sample"
)

// Found is what one of the two found of a change in some time.
type Found struct {
	// Values is how many it had of NEW, in the middle; Tries are windows, of which
	// Apart have nothing in common: of drawn windows of two runs as many as there are
	// runs, less one, and of those inside one nobody asks.
	Values int `json:"values"`
	Tries  int `json:"tries"`
	Apart  int `json:"apart"`
	// Told is how often p is below 5 %, and where there is a change on its side.
	Told Share `json:"told"`
	// Beyond is by threshold: how often our gate fails, and how often benchstat's test
	// finds more than the threshold at the gate's one-sided level.
	Beyond []Share `json:"beyond"`
	// Finds is by threshold which worsening the gate says it would have found in nine
	// of ten, in the middle; of ours alone.
	Finds []float64 `json:"finds,omitempty"`
}

// Row is a change in a time.
type Row struct {
	// Between: BASE is another run; Earlier is by how many others it is known how runs
	// scatter.
	Between bool `json:"between"`
	Earlier int  `json:"earlier,omitempty"`
	// Drawn: the windows are put together of stretches, and the change in them is as
	// large as was meant. Otherwise both are as they came.
	Drawn  bool          `json:"drawn,omitempty"`
	Change float64       `json:"change"`
	Length time.Duration `json:"length_ns"`
	Ours   Found         `json:"ours"`
	Theirs Found         `json:"theirs"`
}

// tally gathers what windows found of a change.
type tally struct {
	change             float64
	values             []float64
	told, tries, apart int
	beyond             []int
	finds              [][]float64
	part               float64 // of the level, that the last look has
	nu                 float64 // of the scatter that windows are drawn from; 0: they are not
}

func newTally(change float64) *tally {
	return &tally{change: change, part: 1, beyond: make([]int, len(thresholds)), finds: make([][]float64, len(thresholds))}
}

func (t *tally) add(values int, p, center float64, beyond []bool, finds []float64) {
	t.tries++
	t.values = append(t.values, float64(values))
	if p < 0.05 && (t.change == 0 || center > 0) {
		t.told++
	}
	for i := range thresholds {
		if beyond[i] {
			t.beyond[i]++
		}
		if finds != nil && finds[i] > 0 {
			t.finds[i] = append(t.finds[i], finds[i])
		}
	}
}

// ours adds a window of ours, theirs one of hyperfine's.
func (t *tally) ours(w try) {
	if s := gate.Shares(gate.Within(w.blocks)); len(s) > 0 {
		t.part = s[len(s)-1]
	}
	t.add(w.blocks, w.p, w.center, w.fails, w.finds)
}

func (t *tally) theirs(w theirTry) { t.add(w.runs, w.p, w.center, w.beyond, nil) }

// share is that of the windows in which a statistic was beyond what is worth a chance.
func (t *tally) share(hit int, chance float64, both bool) Share {
	if t.nu > 0 {
		return shareDrawn(hit, t.tries, critical(chance), t.nu, both)
	}
	return shareOf(hit, t.tries, t.apart)
}

func (t *tally) found() Found {
	f := Found{Tries: t.tries, Apart: t.apart, Told: t.share(t.told, sample.OneSided, t.change == 0)}
	if t.tries > 0 {
		f.Values = int(medianOf(t.values))
	}
	for i := range thresholds {
		f.Beyond = append(f.Beyond, t.share(t.beyond[i], sample.OneSided*t.part, false))
		if len(t.finds[i]) > 0 {
			f.Finds = append(f.Finds, medianOf(t.finds[i]))
		}
	}
	return f
}

// rows judges the windows of a stretch as they came.
func (s *Stretch) rows(lengths []time.Duration) (out []Row, err error) {
	for k := 1; k < len(s.Changes); k++ {
		for _, length := range lengths {
			inside, err := s.inside(k, length)
			if err != nil {
				return nil, err
			}
			across, err := s.across(k, length)
			if err != nil {
				return nil, err
			}
			out = append(out, inside, across)
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		switch {
		case a.Between == b.Between:
			return 0
		case b.Between:
			return -1
		}
		return 1
	})
	return out, nil
}

// bases are the programs that a change is held against: the two that are one file.
func bases(k int) []int {
	if k == 1 {
		return []int{0}
	}
	return []int{0, 1}
}

// scale is which share of a whole process the start is, as hyperfine sees it.
func (s *Stretch) scale() float64 {
	var whole []float64
	for _, r := range s.Runs {
		whole = append(whole, pooled(r.Rounds, 0)...)
	}
	if len(whole) == 0 {
		return 1
	}
	return s.Start / medianOf(whole)
}

// inside tries the windows of each run.
func (s *Stretch) inside(k int, length time.Duration) (Row, error) {
	ours, theirs := newTally(s.Changes[k]), newTally(s.Changes[k])
	scale := s.scale()
	for _, r := range s.Runs {
		for _, a := range bases(k) {
			all, apart := windows(costs(r.Blocks, a, k), length)
			if a == 0 {
				ours.apart += apart
			}
			for _, w := range all {
				t, err := within(r.Blocks[w.From:w.To], a, k)
				if err != nil {
					return Row{}, err
				}
				ours.ours(t)
			}
			all, apart = windows(roundCosts(r.Rounds, a, k), length)
			if a == 0 {
				theirs.apart += apart
			}
			for _, w := range all {
				rounds := r.Rounds[w.From:w.To]
				t := benchstatOf(pooled(rounds, a), pooled(rounds, k), scale)
				theirs.theirs(t)
			}
		}
	}
	return Row{Change: s.Changes[k], Length: length, Ours: ours.found(), Theirs: theirs.found()}, nil
}

// across tries each window of a run against each of another run, those that have
// nothing in common.
func (s *Stretch) across(k int, length time.Duration) (Row, error) {
	ours, theirs := newTally(s.Changes[k]), newTally(s.Changes[k])
	n := len(s.Changes)
	scale := s.scale()
	for i, base := range s.Runs {
		for j, next := range s.Runs {
			if i == j {
				continue
			}
			news := every(windows(costs(next.Blocks, k, n, n+1), length))
			theirNews := every(windows(roundCosts(next.Rounds, k), length))
			if i == (j+1)%len(s.Runs) {
				ours.apart += len(news)
				theirs.apart += len(theirNews)
			}
			for _, b := range every(windows(costs(base.Blocks, 0, n, n+1), length)) {
				res, err := baseOf(base.Blocks[b.From:b.To], n)
				if err != nil {
					return Row{}, err
				}
				for _, w := range news {
					t, err := newRun(next.Blocks[w.From:w.To], k, n).against(res, nil)
					if err != nil {
						return Row{}, err
					}
					ours.ours(t)
				}
			}
			for _, b := range every(windows(roundCosts(base.Rounds, 0), length)) {
				for _, w := range theirNews {
					t := benchstatOf(pooled(base.Rounds[b.From:b.To], 0), pooled(next.Rounds[w.From:w.To], k), scale)
					theirs.theirs(t)
				}
			}
		}
	}
	return Row{Between: true, Change: s.Changes[k], Length: length, Ours: ours.found(), Theirs: theirs.found()}, nil
}
