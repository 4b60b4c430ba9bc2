package findings_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
)

// more is how many times as often as a test repeats: -more 20
// takes enough for the first digit behind the comma.
var more = flag.Int("more", 1, "repeat simulations so many times as often")

// world draws log times of a baseline and of some environments, block by block:
// the machine drifts, trials scatter, and one in twenty lies far out.
type world struct {
	r     *rand.Rand
	sd    float64
	truth []float64 // log ratios to the baseline
	drift float64
	at    float64
}

func (w *world) block() (logs []float64) {
	w.at += w.drift + 0.02*w.r.NormFloat64()
	value := func() float64 {
		v := w.at + w.sd*w.r.NormFloat64()
		if w.r.Float64() < 0.05 {
			v += 10 * w.sd * w.r.ExpFloat64()
		}
		return v
	}
	base := value()
	for _, t := range w.truth {
		logs = append(logs, t+value()-base)
	}
	return logs
}

// claimed is one run of a claim: looked at after so many blocks, as long as it is
// open. It gives the last verdict, the blocks of all pairs, and how many of the
// ratios' own 95 % intervals hold.
func (w *world) claimed(stated record.Range, looks []int) (v analyze.ClaimVerdict, blocks, held int) {
	logs := make([][]float64, len(w.truth))
	stays := make([]bool, len(w.truth))
	for i := range stays {
		stays[i] = true
	}
	done := 0
	for _, look := range looks {
		for ; done < look; done++ {
			for i, l := range w.block() {
				if stays[i] {
					logs[i] = append(logs[i], l)
				}
			}
		}
		v, stays = findings.Simulated(logs, stated, len(looks), float64(looks[len(looks)-1])/float64(look))
		if !slices.Contains(stays, true) {
			break
		}
	}
	for i := range logs {
		blocks += len(logs[i])
		if _, in, ok := stats.PseudoMedian(logs[i], stats.Level); ok && in.Lo <= w.truth[i] && w.truth[i] <= in.Hi {
			held++
		}
	}
	return v, blocks, held
}

// A claim that is looked at again and again, as long as it is open, gets a false
// verdict in at most 5 of 100 runs: with one pair and with many, with its true
// values at its bounds, beside them and far from them, and with a machine that
// drifts. The same looks without a share of the level for each err more often,
// and a look after each block far more often: the simulation can see that.
func TestClaimRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	lo, hi := 0.95, 1.05
	within := record.Range{Text: "0.95..1.05", Min: &lo, Max: &hi}
	one := 1.0
	less := record.Range{Text: "< 1", Max: &one, MaxOpen: true}
	reps := 400 * *more
	slack := 3 * math.Sqrt(0.05*0.95/float64(reps))
	every := []int{}
	for n := 7; n <= 40; n++ {
		every = append(every, n)
	}
	for _, c := range []struct {
		name   string
		stated record.Range
		truth  []float64
		sd     float64
		drift  float64
		looks  []int
		false_ analyze.ClaimVerdict // the one that is not so
	}{
		{"at the bound, which belongs to it", within, []float64{1.05}, 0.05, 0, []int{7, 14, 28}, analyze.ClaimContradicted},
		{"at the bound, which does not belong to it", less, []float64{1}, 0.05, 0, []int{7, 14, 28}, analyze.ClaimSupported},
		{"just outside", within, []float64{1.055}, 0.05, 0, []int{10, 20, 40}, analyze.ClaimSupported},
		{"just inside", within, []float64{1.045}, 0.05, 0, []int{10, 20, 40}, analyze.ClaimContradicted},
		{"in the middle", within, []float64{1}, 0.03, 0, []int{10, 20, 40}, analyze.ClaimContradicted},
		{"far outside", within, []float64{1.3}, 0.05, 0, []int{7, 14, 28}, analyze.ClaimSupported},
		{"six pairs at the bound", less, []float64{1, 1, 1, 1, 1, 1}, 0.05, 0, []int{7, 14, 28}, analyze.ClaimSupported},
		{"six pairs at the other side of the bound", within, []float64{1.05, 1.05, 1.05, 0.95, 0.95, 0.95}, 0.05, 0, []int{7, 14, 28}, analyze.ClaimContradicted},
		{"one of six outside", within, []float64{1, 1, 1, 1, 1, 1.06}, 0.03, 0, []int{10, 20, 40}, analyze.ClaimSupported},
		{"fourteen pairs, drift", within, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.05, 1.05, 0.95}, 0.05, 0.01, []int{10, 20, 40}, analyze.ClaimContradicted},
		{"at the bound, drift", within, []float64{1.05}, 0.05, 0.01, []int{10, 20, 40}, analyze.ClaimContradicted},
	} {
		wrong, decided, blocks, held := 0, 0, 0, 0
		w := world{r: rand.New(rand.NewPCG(21, uint64(len(c.name)))), sd: c.sd, drift: c.drift}
		for _, x := range c.truth {
			w.truth = append(w.truth, math.Log(x))
		}
		n := max(50, reps/len(c.truth))
		for range n {
			v, b, h := w.claimed(c.stated, c.looks)
			blocks, held = blocks+b, held+h
			if v == c.false_ {
				wrong++
			}
			if v != analyze.ClaimInconclusive {
				decided++
			}
		}
		rate := float64(wrong) / float64(n)
		t.Logf("%s: %s though it is not so in %.1f %%; decided in %.0f %%, after %.1f blocks of a pair; 95 %% intervals of the ratios hold in %.1f %%",
			c.name, c.false_, 100*rate, 100*float64(decided)/float64(n), float64(blocks)/float64(n*len(c.truth)), 100*float64(held)/float64(n*len(c.truth)))
		if rate > 0.05+slack*math.Sqrt(float64(len(c.truth))) {
			t.Errorf("%s: a false verdict in %.1f %% of runs", c.name, 100*rate)
		}
	}

	// Looking after each block at the whole level is what must not be done.
	bad := 0
	w := world{r: rand.New(rand.NewPCG(22, 1)), sd: 0.05, truth: []float64{0}}
	for range reps {
		var logs []float64
		for n := 1; n <= every[len(every)-1]; n++ {
			logs = append(logs, w.block()...)
			if n < every[0] {
				continue
			}
			if v, _ := findings.Simulated([][]float64{logs}, less, 1, 1); v == analyze.ClaimSupported {
				bad++
				break
			}
		}
	}
	rate := float64(bad) / float64(reps)
	t.Logf("looked at after each block at the whole level: supported though it is not so in %.1f %%", 100*rate)
	if rate < 0.07 {
		t.Errorf("looking after each block errs in %.1f %% only: this simulation could not see a bad rule", 100*rate)
	}
}

// A claim of failures is looked at the same way.
func TestFailureClaimRates(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	limit := 1.0
	few := record.Range{Text: "< 1%", Max: &limit, MaxOpen: true, Unit: "percent"}
	r := rand.New(rand.NewPCG(23, 1))
	reps := 2000 * *more
	for _, c := range []struct {
		share  float64
		false_ analyze.ClaimVerdict
		most   float64
	}{{0.01, analyze.ClaimSupported, 0.05}, {0.0095, analyze.ClaimContradicted, 0.05}, {0, analyze.ClaimContradicted, 0}} {
		wrong := 0
		for range reps {
			failed, trials := 0, 0
			for _, look := range []int{150, 300, 600} {
				for ; trials < look; trials++ {
					if r.Float64() < c.share {
						failed++
					}
				}
				v := findings.FailuresSimulated(failed, trials, few, 3)
				if v == c.false_ {
					wrong++
				}
				if v != analyze.ClaimInconclusive {
					break
				}
			}
		}
		rate := float64(wrong) / float64(reps)
		t.Logf("%.2f %% of trials fail: %s though it is not so in %.1f %%", 100*c.share, c.false_, 100*rate)
		if rate > c.most+3*math.Sqrt(0.05*0.95/float64(reps)) {
			t.Errorf("%.2f %% of trials fail: a false verdict in %.1f %%", 100*c.share, 100*rate)
		}
	}
}
