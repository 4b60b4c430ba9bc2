package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// MachineState is what others' work on the machine may explain of a difference
// between two runs, by what was recorded beside their trials.
type MachineState struct {
	// Busy are the shares of trials that began on a machine that was not calm, in BASE
	// and in NEW, and Running how many other threads ran or wanted to before trials;
	// nil where nobody looked.
	Busy    [2]float64  `json:"busy"`
	Running *[2]float64 `json:"running,omitempty"`
	// Waits are other kinds of waiting that differed, beside baselines too.
	Waits []Waited `json:"waits,omitempty"`
	// Slower and Faster are by how much NEW may be so for no other reason, as
	// fractions: 0.5 for half as much again.
	Slower float64 `json:"slower"`
	Faster float64 `json:"faster"`
}

// Waited is for what share of the trials' time somebody waited for something.
type Waited struct {
	For  analyze.Wait `json:"for"`
	Base float64      `json:"base"`
	New  float64      `json:"new"`
}

// mostWaited is the share of a trial's time that waiting may have cost it at most:
// the counters are read around what is timed.
const mostWaited = 0.95

// otherState extends the interval by what others' work may explain. logs are the
// values that the ratio is estimated from.
//
// On a busy machine it is not known what a trial lost: with as many others at work,
// long computations cost a start twice as much as compilers do, so that two runs
// that were as busy need not have been slowed down alike. What it may have lost is
// bounded: without others it would have taken anything between its time less that,
// and its time. So may the truth (partial identification; Manski, Partial
// Identification of Probability Distributions, 2003). Trials that began on a calm
// machine lost nothing by this.
//
// Where other engines stand for the machine they tell far more of that: they were
// slowed down by the same, and how far the environment may differ from them is in the
// interval already. What somebody waits for, a disk, is another matter: one engine
// syncs and another does not.
func (c *Change) otherState(works [2]*analyze.Workload, cells [2]*analyze.Cell) {
	own := [2]*analyze.Beside{works[0].BesideOf(cells[0].Env), works[1].BesideOf(cells[1].Env)}
	if own[0] == nil || own[1] == nil || c.Sample.Blocks() == 0 {
		return
	}
	others := c.Control != nil && c.Control.Others != nil && c.Control.Runs == 0
	sign := 1.0
	if c.Metric.Better == record.HigherIsBetter { // a rate is as much lower as its times are longer
		sign = -1
	}
	without := [2][]float64{c.alone(cells[0], 0, own[0], sign), c.alone(cells[1], 1, own[1], sign)}
	if without[0] == nil || without[1] == nil {
		return
	}
	center, _, _, _ := c.Sample.Estimate(stats.Level)
	least, most := center, center
	if !slices.Equal(without[1], c.Sample.X) { // on a calm machine they are
		least, _, _, _ = sample.Sample{X: without[1], Y: c.Sample.Y}.Estimate(stats.Level)
	}
	if !slices.Equal(without[0], c.Sample.Y) {
		most, _, _, _ = sample.Sample{X: c.Sample.X, Y: without[0]}.Estimate(stats.Level)
	}
	slower, faster := max(0, sign*(center-least)), max(0, sign*(most-center))
	if others {
		slower, faster = 0, 0
	}
	s := &MachineState{Busy: [2]float64{own[0].Busy, own[1].Busy}}
	if own[0].Running != nil && own[1].Running != nil {
		s.Running = &[2]float64{*own[0].Running, *own[1].Running}
	}
	for _, k := range analyze.Waits {
		by := waited(works, own, k)
		if math.Abs(by) < worthSaying {
			continue
		}
		s.Waits = append(s.Waits, Waited{For: k, Base: mean(stats.Known(own[0].Waits[k])), New: mean(stats.Known(own[1].Waits[k]))})
		slower, faster = slower+max(0, by), faster+max(0, -by)
	}
	if slower+faster < worthSaying {
		return
	}
	s.Slower, s.Faster = math.Expm1(slower), math.Expm1(faster)
	c.State = s
	// What was taken out as the baselines' may be of the same kind, and the
	// environment need not have followed.
	carried := min(max(sign*c.carried(cells), -slower-faster), slower+faster)
	in := stats.Interval{Lo: -slower + min(carried, 0), Hi: faster + max(carried, 0)}
	if others {
		in = stats.Interval{Lo: -slower, Hi: faster}
	}
	if sign < 0 {
		in.Lo, in.Hi = -in.Hi, -in.Lo
	}
	if others {
		in.Lo, in.Hi = in.Lo+c.Sample.Machine.Lo, in.Hi+c.Sample.Machine.Hi
	}
	c.Sample.Machine = stats.Interval{Lo: min(in.Lo, c.Sample.Machine.Lo), Hi: max(in.Hi, c.Sample.Machine.Hi)}
}

// alone are the values of one side as they might have been without others.
func (c *Change) alone(cell *analyze.Cell, side int, beside *analyze.Beside, sign float64) []float64 {
	less := *cell
	less.ByBlock = append([]float64(nil), cell.ByBlock...)
	for b := range less.ByBlock {
		if b < len(beside.Lost) && !math.IsNaN(beside.Lost[b]) {
			less.ByBlock[b] *= math.Exp(-sign * beside.Lost[b])
		}
	}
	logs, _ := BlockLogs(&less, c.by[side])
	return logs
}

// waited is what waiting of a kind may explain, on the logarithm. That it differed
// is seen by what has nothing to do with the environment, baselines or stolen time;
// how much that may be is bounded by the environment's own trials, since somebody
// waited for a share p of their time.
func waited(works [2]*analyze.Workload, own [2]*analyze.Beside, k analyze.Wait) float64 {
	whose := baselines
	if k == analyze.WaitSteal {
		whose = everyone
	}
	other := differ([2][]float64{meanOf(works[0], whose, k), meanOf(works[1], whose, k)})
	_, in, ok := stats.Shift(lostIn(own[1].Waits[k]), lostIn(own[0].Waits[k]), stats.Level)
	switch {
	case !ok || other == 0:
		return 0
	case other > 0:
		return max(0, in.Hi)
	}
	return min(0, in.Lo)
}

// stateRemark says of the cell of which most may be explained in what state the
// machine was.
func (c *Changes) stateRemark() {
	var most *Change
	cells := 0
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.State == nil || ch.Ratio == nil {
			continue
		}
		cells++
		if most == nil || ch.State.Slower+ch.State.Faster > most.State.Slower+most.State.Faster {
			most = ch
		}
	}
	if most == nil {
		return
	}
	s := most.State
	var parts []string
	if s.Busy[0]+s.Busy[1] > 0 {
		part := fmt.Sprintf("%.0f %% of the trials of BASE and %.0f %% of those of NEW began while others had work", 100*s.Busy[0], 100*s.Busy[1])
		if s.Running != nil {
			part += fmt.Sprintf(" (%.1f and %.1f threads)", s.Running[0], s.Running[1])
		}
		parts = append(parts, part)
	}
	for _, w := range s.Waits {
		parts = append(parts, fmt.Sprintf("some process waited for %s for %.0f %% and %.0f %% of their time", w.For.For(), 100*w.Base, 100*w.New))
	}
	c.Remarks = append(c.Remarks, record.Remark{Code: "another-state", Level: "warn", Advice: "measure both as environments of one run, or both while nothing else runs",
		Text: fmt.Sprintf("the machine was not left alone: of %s of %s in %s, %s. The intervals of %s reach as far as that may explain", most.Metric.ID, c.Work(most.Workload), most.Env, strings.Join(parts, ", and "), cellsOf(cells))})
}

// carried is by how much what was taken out of the values differs between the runs.
func (c *Change) carried(cells [2]*analyze.Cell) float64 {
	var by [2][]float64
	for k := range by {
		for b, v := range c.by[k] {
			if v > 0 && b < len(cells[k].ByBlock) && !math.IsNaN(cells[k].ByBlock[b]) {
				by[k] = append(by[k], math.Log(v))
			}
		}
	}
	if len(by[0]) == 0 || len(by[1]) == 0 {
		return 0
	}
	return stats.Median(stats.Sorted(by[1])) - stats.Median(stats.Sorted(by[0]))
}

// lostIn is what waiting may have cost each block at most, on the logarithm.
func lostIn(shares []float64) []float64 {
	out := stats.Known(shares)
	for i, p := range out {
		out[i] = -math.Log1p(-min(p, mostWaited))
	}
	return out
}

// differ says whether the second of two samples lies above (1) or below (−1) the
// first, by the 95 % interval of the shift.
func differ(x [2][]float64) int {
	if len(x[0]) == 0 || len(x[1]) == 0 {
		return 0
	}
	switch _, in, ok := stats.Shift(x[1], x[0], stats.Level); {
	case ok && in.Lo > 0:
		return 1
	case ok && in.Hi < 0:
		return -1
	}
	return 0
}

func everyone(*analyze.Workload, string) bool { return true }

// baselines are those environments that are compared with one.
func baselines(w *analyze.Workload, env string) bool {
	for t := range w.Tables {
		for i := range w.Tables[t].Cells {
			for _, r := range w.Tables[t].Cells[i].Ratios {
				if r.Env == env {
					return true
				}
			}
		}
	}
	return false
}

// meanOf is the mean over some environments by block.
func meanOf(w *analyze.Workload, whose func(*analyze.Workload, string) bool, k analyze.Wait) []float64 {
	var sum, n []float64
	for i := range w.Beside {
		if !whose(w, w.Beside[i].Env) {
			continue
		}
		values := w.Beside[i].Waits[k]
		if sum == nil {
			sum, n = make([]float64, len(values)), make([]float64, len(values))
		}
		for b, v := range values {
			if !math.IsNaN(v) {
				sum[b] += v
				n[b]++
			}
		}
	}
	for b := range sum {
		sum[b] /= n[b] // NaN where there is none
	}
	return stats.Known(sum)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
