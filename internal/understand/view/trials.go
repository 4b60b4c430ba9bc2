package view

import (
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
)

// pass reads the trials a second time, now that it is known what of them is
// shown: analyze has said how many there are.
type pass struct {
	*builder
	started time.Time
	tables  [][]shownTable // by workload
	failed  [][]int        // so far, by workload and environment
	quota   int            // failed trials that are listed of one cell
	listed  int            // of them all
	phases  []*phaser
	curves  *sampler
}

// shownTable is a table whose values are all shown.
type shownTable struct {
	metric record.Metric
	dist   []Dist
}

func (b *builder) trials() error {
	p := pass{builder: b, started: b.res.Run.Started, curves: b.sampler()}
	var failed []int // of each cell
	for w := range b.res.Workloads {
		var shown []shownTable
		k := 0
		for t := range b.res.Workloads[w].Tables {
			d := b.plans[w].tables[t]
			if d == values {
				out := &b.d.Works[w].Tables[k]
				shown = append(shown, shownTable{out.Metric, out.Dist})
			}
			if d > hidden {
				k++
			}
		}
		p.tables = append(p.tables, shown)
		p.failed = append(p.failed, make([]int, len(b.envs)))
		p.phases = append(p.phases, b.phaser(w))
		for _, c := range b.res.Workloads[w].Counts {
			failed = append(failed, c.Failed)
		}
	}
	p.quota = quota(failed, maxFailed)
	b.d.Trials = Trials{Of: b.res.Run.Trials - b.res.Run.Warmup, Seq: []int{}, Block: []int{}, Env: []int{}, Work: []int{}, At: []int64{}, Class: []string{}, Text: []string{}}
	n := 0
	for t, err := range derive.Trials(b.r) {
		if err != nil {
			return fmt.Errorf("reading the trials once more: %w", err)
		}
		// Of a run that goes on, those that came meanwhile are not in the result.
		if n++; n > b.res.Run.Trials {
			break
		}
		p.take(t)
	}
	for w, ph := range p.phases {
		b.d.Works[w].Phases = ph.phases()
	}
	p.curves.curves()
	if n := len(b.d.Trials.Seq); n < b.d.Trials.Of {
		b.leave("Of %d trials %d are listed one by one, those that failed first; trials.jsonl has all.", b.d.Trials.Of, n)
	}
	return nil
}

// quota is how many each may have at most, so that all together have no more
// than there is room for; at least 1.
func quota(want []int, room int) int {
	want = slices.Sorted(slices.Values(want))
	for i, n := range want {
		share := room / (len(want) - i)
		if n > share {
			return max(share, 1)
		}
		room -= n
	}
	return math.MaxInt
}

func (p *pass) take(t *record.Trial) {
	if t.Warmup {
		return
	}
	w, work := p.works[t.Workload]
	e, env := p.envs[t.Env]
	if !work || !env {
		return // the result was narrowed
	}
	if !t.OK() {
		p.failed[w][e]++
		if p.failed[w][e] <= p.quota && p.listed < 2*maxFailed {
			p.listed++
			p.list(t, w, e)
		}
		return
	}
	p.followed(t, e)
	p.phases[w].take(e, t)
	p.curves.take(w, e, t)
	place := -1
	for i := range p.tables[w] {
		table := &p.tables[w][i]
		v, ok := table.metric.Value(t)
		if !ok {
			continue
		}
		if place < 0 {
			place = p.list(t, w, e)
		}
		d := &table.dist[e]
		d.Values, d.Trial = append(d.Values, v), append(d.Trial, place)
	}
}

// list adds a trial, and gives its place.
func (p *pass) list(t *record.Trial, w, e int) int {
	l := &p.d.Trials
	class, text := "", ""
	if t.Failure != nil {
		class, text = string(t.Failure.Class), clip(t.Failure.Text, maxNote)
	}
	at := int64(0)
	if !t.At.IsZero() {
		at = t.At.Sub(p.started).Milliseconds()
	}
	l.Seq, l.Block, l.Env, l.Work = append(l.Seq, t.Seq), append(l.Block, t.Block), append(l.Env, e), append(l.Work, w)
	l.At, l.Class, l.Text = append(l.At, at), append(l.Class, class), append(l.Text, text)
	return len(l.Seq) - 1
}
