package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// around is what was going on around a trial, and how long that lasted, ns.
type around struct {
	steal, throttled, cpu, memory, io, quiet, lasted float32
	// running is how many other threads were runnable before it, below 0 where
	// nobody looked; busy, that the machine was not calm then.
	running float32
	busy    bool
}

func aroundOf(t *record.Trial) around {
	a := around{quiet: float32(t.Quiet), throttled: float32(t.Values[throttleMetric]), running: -1}
	a.busy = slices.Contains(t.Remarks, record.NotQuiet)
	if t.Running != nil {
		a.running = float32(*t.Running)
	}
	last := t.Events[record.Request]
	for _, at := range t.Events {
		last = max(last, at)
	}
	a.lasted = float32(last - t.Events[record.Request])
	if h := t.Host; h != nil {
		a.steal, a.cpu, a.memory, a.io = float32(h.StealNS), float32(h.CPUPressureNS), float32(h.MemoryPressureNS), float32(h.IOPressureNS)
		if h.ThrottledNS != nil {
			a.throttled = max(a.throttled, float32(*h.ThrottledNS))
		}
	}
	return a
}

const (
	// wildTimes is how many times the median a value beyond the far fence must be to
	// be asked for a cause, and wildFrom how many values there must be.
	wildTimes = 2
	wildFrom  = 10
	// explains is the share of a value's excess that something must have lasted to
	// be named as its cause. Steal is counted in ticks of 10 ms, and pressure is a mean
	// over the processors that had work: both may tell less than a trial lost.
	explains = 0.25
	// longWait is a wait for a calm machine after which one that was not is the
	// likely cause.
	longWait = float32(time.Second)
)

// causes are looked up in this order: what is nearest to the trial first.
var causes = []struct {
	text string
	of   func(around) float32
}{
	{"while the hypervisor took the processor away", func(a around) float32 { return a.steal }},
	{"held back by the CPU limit", func(a around) float32 { return a.throttled }},
	{"while processes waited for memory", func(a around) float32 { return a.memory }},
	{"while processes waited for a disk", func(a around) float32 { return a.io }},
	{"while processes waited for a processor", func(a around) float32 { return a.cpu }},
}

// The causes that are not measured at the trial itself, and none.
const (
	besides = "in blocks in which others took as long"
	busy    = "right after a wait for a calm machine"
	unknown = "without a cause that was recorded"
)

// wildRemarks say of the values of a workload that took many times as long as
// the others of their environment what was going on around them. None is removed.
func (s *store) wildRemarks(work *analyze.Workload, w int) []record.Remark {
	m := s.wildMetric(work, w)
	if m < 0 {
		return nil
	}
	type wild struct {
		trial int
		over  float64 // the excess, ns
		times float64
	}
	all := make([][]wild, len(s.cells[w]))
	slow := map[int32]int{} // environments with a wild value, by block
	for e, c := range s.cells[w] {
		limit, med := fence(c.columns[m])
		inBlock := map[int32]bool{}
		for i, v := range c.columns[m] {
			if limit > 0 && v > limit && v >= wildTimes*med { // NaN is neither
				all[e] = append(all[e], wild{i, v - med, v / med})
				inBlock[c.block[i]] = true
			}
		}
		for b := range inBlock {
			slow[b]++
		}
	}
	var out []record.Remark
	for e, list := range all {
		c := s.cells[w][e]
		found := map[string]int{}
		most := 0.0
		for _, x := range list {
			most = max(most, x.times)
			found[causeOf(c.around[x.trial], x.over, slow[c.block[x.trial]] > 1)]++
		}
		if len(list) == 0 {
			continue
		}
		var parts []string
		for _, k := range causes {
			if n := found[k.text]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, k.text))
			}
		}
		for _, text := range []string{besides, busy, unknown} {
			if n := found[text]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, text))
			}
		}
		advice := "they are counted, not removed; measure on a quieter machine"
		if found[unknown] > 0 {
			advice = "they are counted, not removed: those without a cause may be the engine's own; plimsoll explain shows where a start's time goes"
		}
		out = append(out, record.Remark{Code: "wild", Level: info, Env: s.run.Environments[e].ID, Workload: work.ID, Metric: s.metrics[w][m].ID,
			Text: fmt.Sprintf("%s took up to %.2g times as long as its median: %s", count(len(list), "value"), most, strings.Join(parts, ", ")), Advice: advice})
	}
	return out
}

// wildMetric is the first duration that is shown, -1 where there is none.
func (s *store) wildMetric(work *analyze.Workload, w int) int {
	for _, id := range work.Show {
		for m := range s.metrics[w] {
			if s.metrics[w][m].ID == id && analyze.Duration(s.metrics[w][m]) {
				return m
			}
		}
	}
	return -1
}

// fence is Tukey's far one above, and the median; 0 where there are too few.
func fence(values []float64) (limit, med float64) {
	there := lists.Filter(values, func(v float64) bool { return v > 0 })
	if len(there) < wildFrom {
		return 0, 0
	}
	there = stats.Sorted(there)
	return stats.Quantile(there, 0.75) + 3*stats.IQR(there), stats.Median(there)
}

// causeOf names what explains an excess.
func causeOf(a around, over float64, others bool) string {
	for _, k := range causes {
		if float64(k.of(a)) >= explains*over {
			return k.text
		}
	}
	switch {
	case others:
		return besides
	case a.quiet >= longWait:
		return busy
	}
	return unknown
}
