package web

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
)

type cellKey struct{ env, work string }

// live follows one run.
type live struct {
	place    *place
	plans    func(*record.Run) (Plan, error)
	follower *record.Follower
	runMark  mark
	reader   *record.Reader // of the run, for the series of its trials
	run      *record.Run
	status   string
	killed   bool
	problem  string

	expect *expected
	taken  []int // the trials' places in the plan, since run.json may come anew
	cells  map[cellKey]*liveCell
	order  []*liveCell
	shown  map[string][]record.Metric // candidates, by workload
	envs   map[string]bool

	done, failed int
	last         *record.Trial // a copy; its maps are not kept
	rev          int
}

// newLive begins to follow. The run must be readable.
func newLive(p *place, plans func(*record.Run) (Plan, error)) *live {
	l := &live{place: p, plans: plans}
	l.reset()
	return l
}

// reset begins anew. A revision is left out, so that all viewers get all cells.
func (l *live) reset() {
	l.rev++
	l.follower, l.cells, l.order = record.Follow(l.place.dir), map[cellKey]*liveCell{}, nil
	l.done, l.failed, l.last, l.run, l.runMark, l.expect, l.taken = 0, 0, nil, nil, mark{}, nil, nil
}

// step reads what is new, and says whether anything is.
func (l *live) step() (changed bool) {
	// The lock first: whoever ends writes into run.json that it has, and then
	// lets go.
	held, unknown := record.BeingWritten(l.place.dir)
	if m := markOf(filepath.Join(l.place.dir, record.RunFile)); m != l.runMark || l.run == nil {
		if r, err := l.place.open(); err != nil {
			changed = l.problem != err.Error()
			l.problem = err.Error()
		} else {
			changed = true
			if l.run != nil && l.run.ID != r.Run().ID {
				l.reset()
			}
			l.runMark, l.problem, l.reader = m, "", r
			l.read(r.Run())
		}
	}
	if l.run == nil {
		return changed
	}
	grown, err := l.follower.Next(l.add)
	if errors.Is(err, record.ErrReplaced) {
		l.reset()
		return true
	}
	if err != nil && l.problem != err.Error() {
		l.problem, changed = err.Error(), true
	}
	status, killed := l.run.Status, false
	if status == running && !held && unknown == nil {
		status, killed = interrupted, true
	}
	changed = changed || grown || status != l.status
	l.status, l.killed = status, killed
	return changed
}

// read takes a run.json that has changed.
func (l *live) read(r *record.Run) {
	l.run = r
	l.shown, l.envs = map[string][]record.Metric{}, map[string]bool{}
	for _, e := range r.Environments {
		l.envs[e.ID] = true
	}
	for i := range r.Workloads {
		l.shown[r.Workloads[i].ID] = candidates(r, &r.Workloads[i])
	}
	l.expect = nil
	if l.plans != nil {
		if p, err := l.plans(r); err == nil {
			l.expect = expect(p, r)
		}
	}
	for _, seq := range l.taken {
		l.expect.take(seq)
	}
	for _, c := range l.order {
		c.planned = l.expect.of(c.key)
	}
}

// maxCandidates bounds of how many metrics values are kept.
const maxCandidates = 3

// candidates are the metrics of which the first that has a value is shown: what
// the study asks for, the workload's own, and start-up.
func candidates(r *record.Run, w *record.Workload) []record.Metric {
	var out []record.Metric
	all := w.AllMetrics()
	add := func(id string) {
		i := slices.IndexFunc(all, func(m record.Metric) bool { return m.ID == id })
		if i >= 0 && len(out) < maxCandidates && !slices.ContainsFunc(out, func(m record.Metric) bool { return m.ID == id }) {
			out = append(out, all[i])
		}
	}
	for _, id := range r.Study.Metrics {
		add(id)
	}
	for _, m := range w.Metrics {
		if m.Kind == "" && len(out) < maxCandidates-1 {
			add(m.ID)
		}
	}
	add("startup")
	add("exec-ready")
	return out
}

func (l *live) cell(k cellKey) *liveCell {
	c := l.cells[k]
	if c == nil {
		c = &liveCell{key: k, metrics: l.shown[k.work], planned: l.expect.of(k)}
		c.values = make([][][]float64, len(c.metrics))
		l.cells[k] = c
		l.order = append(l.order, c)
	}
	return c
}

// add takes a trial.
func (l *live) add(t *record.Trial) {
	if _, ok := l.shown[t.Workload]; !ok || !l.envs[t.Env] {
		l.problem = fmt.Sprintf("trial %d is of %q in %q, which %s does not name: the two files are not of one run", t.Seq, t.Workload, t.Env, record.RunFile)
		return
	}
	c := l.cell(cellKey{t.Env, t.Workload})
	l.done++
	if l.last != nil {
		took := t.At.Sub(l.last.At)
		if took > 0 && !l.between(l.last.At, t.At) {
			l.cell(cellKey{l.last.Env, l.last.Workload}).took(took)
		}
	}
	l.last = &record.Trial{Seq: t.Seq, Env: t.Env, Workload: t.Workload, At: t.At}
	l.taken = append(l.taken, t.Seq)
	l.expect.take(t.Seq)
	c.done++
	c.dirty = true
	if t.Warmup {
		return
	}
	if !t.OK() {
		c.failed++
		l.failed++
		return
	}
	derive.Add(l.reader, t)
	c.add(t)
}

// between says whether the run was gone on with between two times.
func (l *live) between(from, to time.Time) bool {
	return slices.ContainsFunc(l.run.Resumed, func(at time.Time) bool { return at.After(from) && !at.After(to) })
}

// left estimates how long it takes yet.
func (l *live) left() time.Duration {
	if l.status != running || l.expect == nil {
		return 0
	}
	var sum, all time.Duration
	n, unknown := 0, 0
	for _, c := range l.order {
		all += c.spent
		n += c.times
	}
	if n == 0 {
		return 0
	}
	for k, rest := range l.expect.rest {
		c := l.cells[k]
		if c == nil || c.times == 0 {
			unknown += rest
			continue
		}
		sum += time.Duration(float64(c.spent) / float64(c.times) * float64(rest))
	}
	sum += time.Duration(float64(all) / float64(n) * float64(unknown))
	if budget := time.Duration(l.run.Protocol.TimeBudgetNS); budget > 0 {
		begun := l.run.Started
		if n := len(l.run.Resumed); n > 0 {
			begun = l.run.Resumed[n-1] // what went before counts too: it is then less
		}
		sum = min(sum, max(time.Second, budget-time.Since(begun)))
	}
	return sum
}

// news gives the event that follows from what has changed, and the one for who
// has seen none yet.
func (l *live) news(load *Load, charts bool) Live {
	l.rev++
	out := Live{Schema: LiveSchema, Revision: l.rev, Status: l.status, Killed: l.killed, Done: l.done, Failed: l.failed,
		LeftNS: int64(l.left()), Cells: []LiveCell{}, Host: load, Charts: charts, Problem: l.problem}
	if l.last != nil {
		out.Last = l.last.At
	}
	if l.run != nil && l.expect != nil {
		out.Total = l.done + l.expect.left
		p := l.run.Protocol
		out.AtMost = l.status == running && (p.Open() || l.run.Gate != nil)
		if l.status == running {
			out.Now = l.expect.next(l.run)
		}
	}
	for _, c := range l.order {
		if c.dirty {
			c.dirty = false
			c.settle()
			out.Cells = append(out.Cells, c.show())
		}
	}
	return out
}

// whole gives an event of this revision with all cells.
func (l *live) whole(of Live) Live {
	of.Whole, of.Cells = true, make([]LiveCell, 0, len(l.order))
	for _, c := range l.order {
		s := c.show()
		s.Course = c.course
		of.Cells = append(of.Cells, s)
	}
	return of
}
