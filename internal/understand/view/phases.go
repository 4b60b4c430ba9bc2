package view

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// phaser gathers the events of one workload, as times after the request.
type phaser struct {
	envs []*offsets // nil: no trial yet
}

// offsets has for each of record.Events the time in each trial, absent where
// the trial lacks it; nil where no trial has had the event so far.
type offsets struct {
	n    int
	cols [][]int64
}

const absent = math.MinInt64

// phaser is nil for a workload that is not about its container's life: how long
// a benchmark's container lived is how long the benchmark took.
func (b *builder) phaser(w int) *phaser {
	if b.res.Workloads[w].Table("time") != nil {
		return nil
	}
	return &phaser{make([]*offsets, len(b.envs))}
}

func (p *phaser) take(e int, t *record.Trial) {
	request, ok := t.Events[record.Request]
	if p == nil || !ok {
		return
	}
	o := p.envs[e]
	if o == nil {
		o = &offsets{cols: make([][]int64, len(record.Events))}
		p.envs[e] = o
	}
	for i, event := range record.Events {
		at, ok := t.Events[event]
		if t.Clock == record.ClockForeign && event.Inside() {
			ok = false
		}
		switch {
		case ok:
			for len(o.cols[i]) < o.n {
				o.cols[i] = append(o.cols[i], absent)
			}
			o.cols[i] = append(o.cols[i], at-request)
		case o.cols[i] != nil:
			o.cols[i] = append(o.cols[i], absent)
		}
	}
	o.n++
}

// phases makes the steps. An environment's events are those that most of its
// trials have, and its steps lead from each to the next. Steps of all
// environments together are in the order of record.Events, in which those of
// each follow one another.
func (p *phaser) phases() *Phases {
	if p == nil {
		return nil
	}
	medians := make([]map[[2]int]float64, len(p.envs))
	var all [][2]int
	for e, o := range p.envs {
		medians[e] = map[[2]int]float64{}
		path := o.path()
		for i := 1; i < len(path); i++ {
			step := [2]int{path[i-1], path[i]}
			medians[e][step] = o.median(step[0], step[1])
			all = analyze.Also(all, step)
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	out := &Phases{Medians: make([][]*float64, len(p.envs))}
	for _, s := range all {
		out.Steps = append(out.Steps, stepOf(record.Events[s[0]], record.Events[s[1]]))
		for e := range p.envs {
			var v *float64
			if m, ok := medians[e][s]; ok {
				v = &m
			}
			out.Medians[e] = append(out.Medians[e], v)
		}
	}
	return out
}

// path are the events that a bar is made of. An event that comes before the one
// that it usually follows takes that one's place: a call that returns only
// after the payload has said its first word delays nothing. Where the end and
// the removal are one stamp, the bar ends there.
func (o *offsets) path() []int {
	if o == nil {
		return nil
	}
	var path []int
	for i := range record.Events {
		n := 0
		for _, v := range o.cols[i] {
			if v != absent {
				n++
			}
		}
		if 2*n <= o.n {
			continue
		}
		for len(path) > 1 && o.median(path[len(path)-1], i) < 0 {
			path = path[:len(path)-1]
		}
		if len(path) > 0 {
			if v := o.median(path[len(path)-1], i); v < 0 || v == 0 && record.Events[i] == record.Removed {
				continue
			}
		}
		path = append(path, i)
	}
	return path
}

// median is that of the time from one event to another, over the trials that
// have both.
func (o *offsets) median(from, to int) float64 {
	var d []float64
	for k := range min(len(o.cols[from]), len(o.cols[to])) {
		if a, b := o.cols[from][k], o.cols[to][k]; a != absent && b != absent {
			d = append(d, float64(b-a))
		}
	}
	slices.Sort(d)
	return stats.Median(d)
}

// stepOf names a step as the metric that it is, else by its ends.
func stepOf(from, to record.Event) Step {
	s := Step{From: from, To: to}
	for _, m := range record.LifeCycle {
		if m.From == from && m.To == to {
			s.Metric, s.Title = m.ID, m.Title
			return s
		}
	}
	words := map[record.Event]string{record.First: "first instruction", record.Ready: "first byte", record.Done: "payload done", record.Exit: "end"}
	word := func(e record.Event) string {
		if w := words[e]; w != "" {
			return w
		}
		return strings.ReplaceAll(string(e), "-", " ")
	}
	s.Title = word(from) + " to " + word(to)
	return s
}
