package sequential

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// Outlook is what a run of some blocks can find, by the scatter of its first.
type Outlook struct {
	// Seen is from how many blocks it was told, warm-up and all; Blocks for how
	// many it is told.
	Seen, Blocks int
	// Cells is of how many ratios.
	Cells int
	// Typical and Worst are relative differences that would be found in nine of
	// ten runs, of the ratio in the middle and of the widest: WorstEnv's.
	Typical, Worst float64
	WorstEnv       string
}

// power is how often a difference that can be found is found.
const power = 0.9

// Detectable is the log ratio that n blocks tell from none in nine of ten runs,
// where the log ratios of blocks scatter by sd: Student's two quantiles (Cohen,
// Statistical Power Analysis, 2.3), widened by the efficiency of signed ranks
// for normal values, 3/π (Hollander, Wolfe & Chicken, 3.11).
func Detectable(sd float64, n int) float64 {
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
	return (t.Quantile(1-sample.Alpha/2) + t.Quantile(power)) * sd * math.Sqrt(math.Pi/3/float64(n))
}

// Foresee tells from the blocks so far, the warm-up among them, what a run of
// so many blocks can find. nil where too little has been measured.
func Foresee(r *record.Reader, blocks int) (*Outlook, error) {
	works, seen, err := evaluate.Workloads(r)
	if err != nil || blocks < sample.MinT {
		return nil, err
	}
	o := &Outlook{Seen: seen, Blocks: blocks}
	var all []float64
	for w := range works {
		for _, q := range questions(&works[w], r.Run().Environments) {
			if len(q.pairs) < 3 {
				continue
			}
			d := math.Expm1(Detectable(stat.StdDev(q.pairs, nil), blocks))
			all = append(all, d)
			if d >= o.Worst {
				o.Worst, o.WorstEnv = d, q.env
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	slices.Sort(all)
	o.Cells, o.Typical = len(all), stats.Median(all)
	return o, nil
}

// String says it in a sentence.
func (o *Outlook) String() string {
	s := fmt.Sprintf("at the noise of the first %d blocks, %d blocks find differences of %s or more", o.Seen, o.Blocks, difference(o.Typical))
	if o.Cells > 1 {
		s += fmt.Sprintf(" (of half of the ratios; %s, the widest: %s)", o.WorstEnv, difference(o.Worst))
	}
	return s + " in nine of ten runs"
}

// difference writes a relative difference as people say it: 4 ×, and not 303 %.
func difference(f float64) string {
	if f >= 1 {
		return fmt.Sprintf("%.2g ×", 1+f)
	}
	return fmt.Sprintf("%.2g %%", 100*f)
}
