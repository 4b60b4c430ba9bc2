package run

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

const (
	// memoryStep is what kernels round a limit to.
	memoryStep = 4096
	// leastTried is where a search downwards ends.
	leastTried = 4 * memoryStep
	// memoryTries is how often a start must fail before its limit counts as too
	// small: one that succeeds once has shown that it can.
	memoryTries = 2
	// memoryProbeLimit bounds one start: what is killed for its memory may hang.
	memoryProbeLimit = 15 * time.Second
)

// leastMemory is a search for the least memory limit with which a container
// starts.
type leastMemory struct {
	*site
	what workload.LeastMemory
}

func (l leastMemory) watched(bool) bool { return false }

func (l leastMemory) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	t := begun(p, o)
	if m, ok := o.env.(engine.MemoryLimiter); !ok || !m.LimitsMemory() {
		l.refuse(t, o.rec.ID+" can't give a container a memory limit of its own")
		return t, engine.Result{}, nil
	}
	if err := l.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	s := &memorySearch{site: l.site, o: o, seq: p.Seq, busybox: l.what.BusyBox}
	l.observe(o, t, func() { s.search(ctx, l.what.From) })
	if ctx.Err() != nil {
		return nil, engine.Result{}, ctx.Err()
	}
	s.fill(t, l.what.From)
	return t, engine.Result{}, nil
}

// memorySearch is a search under way: the least limit that held and the largest
// below it that did not, 0 where there is none.
type memorySearch struct {
	site  *site
	o     *openEnv
	seq   int
	tried int

	busybox bool // its echo says the word

	holds, fails int64
	failure      *record.Failure // of the last start that failed
	broken       bool            // the engine can't go on
}

// search halves the limit until a start fails, and then divides the way between
// the two by their ratio.
func (s *memorySearch) search(ctx context.Context, from int64) {
	for limit := from; limit >= leastTried; limit /= 2 {
		if !s.starts(ctx, limit) {
			break
		}
	}
	for s.holds > 0 && s.fails > 0 && float64(s.holds)/float64(s.fails) > closeEnough && ctx.Err() == nil && !s.broken {
		mid := int64(math.Sqrt(float64(s.holds)*float64(s.fails))) / memoryStep * memoryStep
		if mid <= s.fails {
			mid = s.fails + memoryStep
		}
		if mid >= s.holds {
			return // neighbouring pages
		}
		s.starts(ctx, mid)
	}
}

// starts says whether a container starts with this limit and its payload
// answers.
func (s *memorySearch) starts(ctx context.Context, limit int64) bool {
	for range memoryTries {
		if ctx.Err() != nil || s.broken {
			return false
		}
		if s.start(ctx, limit) {
			s.holds = limit
			return true
		}
	}
	if ctx.Err() == nil {
		s.fails = limit
	}
	return false
}

func (s *memorySearch) start(ctx context.Context, limit int64) bool {
	s.tried++
	word := newWord()
	argv := probe.PayloadArgs{Word: word}.Argv(probePath)
	if s.busybox {
		argv = []string{"/bin/echo", word}
	}
	res, err := runGuarded(ctx, s.o.env, engine.Task{
		Name: fmt.Sprintf("plimsoll-%s-%d-%d", s.site.rec.ID, s.seq, s.tried), Argv: argv,
		Limit: min(s.site.limit(), memoryProbeLimit), MemoryBytes: limit,
	})
	s.broken = err != nil
	switch said := strings.TrimSpace(string(res.Stdout)); {
	case err != nil || res.Failure != nil || !s.busybox:
		s.failure = unstarted(res, err, word)
	case said != word:
		s.failure = noProof(probe.ErrNoProof, res)
	default:
		s.failure = nil
	}
	return s.failure == nil
}

// fill writes the bracket down.
func (s *memorySearch) fill(t *record.Trial, from int64) {
	switch {
	case s.broken:
		t.Failure = s.failure
		return
	case s.holds == 0:
		t.Failure = s.failure
		t.Failure.Text = fmt.Sprintf("not even %d MiB were enough: %s", from>>20, t.Failure.Text)
		return
	}
	t.Values = map[string]float64{workload.MetricLeastMemory: float64(s.holds)}
	if s.fails > 0 {
		t.Values[workload.MetricLeastMemoryFails] = float64(s.fails)
	} else {
		t.Remarks = append(t.Remarks, fmt.Sprintf("the search ended at %d bytes, at which a container still started", s.holds))
	}
}
