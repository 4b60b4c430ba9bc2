package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// controls sum up what was taken out of the cells of two runs.
type controls struct {
	cells, moved, past int
	learnt             int // cells of which weights were learnt
	humps              int // cells without earlier runs
	names              []string
	least, most        float64 // sums of weights
	shift              float64 // the largest of Moved
	others, together   int     // cells that went by others, of so many engines at least
	slower             float64 // the largest of Others.Moved
	runs               int     // the fewest
}

// worthMoving is from where on it is remarked on that others moved.
const worthMoving = 0.01

// worthSaying is from where on what is left of the machine's change is remarked on.
const worthSaying = 0.001

func (s *controls) add(ch *Change) {
	k := ch.Control
	s.cells++
	if k.Runs > 0 {
		if s.past == 0 || k.Runs < s.runs {
			s.runs = k.Runs
		}
		s.past++
	} else if k.Others != nil {
		if s.others == 0 || k.Others.Engines < s.together {
			s.together = k.Others.Engines
		}
		s.others++
		s.slower = larger(s.slower, slower(ch, k.Others.Moved))
		return
	}
	if s.learnt == 0 {
		s.least = 1
	}
	s.learnt++
	s.least, s.most = min(s.least, k.Sum()), max(s.most, k.Sum())
	for _, b := range k.Baselines {
		s.names = analyze.Also(s.names, b.Baseline)
	}
	if ch.humps && k.Runs == 0 {
		s.humps++
	}
	if math.Abs(k.Moved) >= worthSaying {
		s.moved++
		s.shift = larger(s.shift, slower(ch, k.Moved))
	}
}

// slower is by how much a machine was slower that moved a cell by so much, as a
// fraction: a rate falls where times grow.
func slower(ch *Change, moved float64) float64 {
	if ch.Metric.Better == record.HigherIsBetter {
		return 1/(1+moved) - 1
	}
	return moved
}

// larger is the larger one of two changes, up or down.
func larger(a, b float64) float64 {
	if math.Abs(math.Log1p(b)) > math.Abs(math.Log1p(a)) {
		return b
	}
	return a
}

// speed is a change of the machine's in words: "12 % slower".
func speed(slower float64) (size, direction string) {
	direction = "slower"
	if slower < 0 {
		direction = "faster"
	}
	return sample.Percent(math.Expm1(math.Abs(math.Log1p(slower)))), direction
}

// remarks say what was taken out, what of the machine's state may be left, and
// whether the scatter between runs is known.
func (s *controls) remarks() []record.Remark {
	weight := fmt.Sprintf("%.2f", s.least)
	if most := fmt.Sprintf("%.2f", s.most); most != weight {
		weight += " to " + most
	}
	names := slices.DeleteFunc(slices.Clone(analyze.Baselines), func(n string) bool { return !slices.Contains(s.names, n) })
	var out []record.Remark
	if s.others > 0 {
		out = append(out, record.Remark{Code: "not-interleaved", Level: "info",
			Text: fmt.Sprintf("the two runs share no block: of each value of %s was taken out what other engines, %d or more that are the same in both runs, did in its own block", cellsOf(s.others), s.together)})
		if math.Abs(s.slower) >= worthMoving {
			size, direction := speed(s.slower)
			out = append(out, record.Remark{Code: "machine-moved", Level: "info", Advice: "measure both as environments of one run",
				Text: fmt.Sprintf("the machine was up to %s %s in NEW, by the engines that are the same in both: an environment may follow them half as much or half as much again, and the intervals reach that far", size, direction)})
		}
	}
	if len(names) > 0 && s.learnt > 0 {
		out = append(out, record.Remark{Code: "not-interleaved", Level: "info",
			Text: fmt.Sprintf("the two runs share no block: of each value was taken out what %s carried in its own block, with a weight that was learnt from the scatter (%s; 1 divides by them, 0 leaves it as it is)", strings.Join(names, " and "), weight)})
	}
	if s.moved > 0 {
		size, direction := speed(s.shift)
		out = append(out, record.Remark{Code: "machine-moved", Level: "info", Advice: "measure both as environments of one run",
			Text: fmt.Sprintf("%s: the machine was %s in NEW by all baselines, and how much of that an environment follows is not known: up to %s of it is left in, and the interval reaches that far", cellsOf(s.moved), direction, size)})
	}
	if s.humps > 0 {
		out = append(out, record.Remark{Code: "humps", Level: "info", Advice: "measure both as environments of one run; --against native holds what it says, and is wider",
			Text: fmt.Sprintf("the values of %s fall into two humps, which hides how the machine moves: if it does from block to block, 86 to 91 of 100 such intervals hold the truth, not 95", cellsOf(s.humps))})
	}
	if s.past > 0 {
		out = append(out, record.Remark{Code: "between-runs", Level: "info",
			Text: fmt.Sprintf("the intervals of %s hold the scatter between runs of the same thing, as %d earlier runs or more showed it", cellsOf(s.past), s.runs)})
	}
	if n := s.cells - s.past - s.others; n > 0 {
		out = append(out, record.Remark{Code: "between-runs", Level: "info", Advice: fmt.Sprintf("give %d earlier runs or more of the same thing by --history, or measure both as environments of one run", leastRuns),
			Text: fmt.Sprintf("two runs are two draws of the machine's state: how much that alone changes is not known for %s, and their intervals do not hold it", cellsOf(n))})
	}
	return out
}
