package view

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// Course is the course of the median of an environment's starts that the run followed
// through the kernel.
type Course struct {
	Env int `json:"env"`
	// Starts were followed; NS is the median of what they took.
	Starts int             `json:"starts"`
	NS     float64         `json:"ns"`
	Lanes  *timeline.Lanes `json:"lanes"`
	Stages []Stage         `json:"stages"`
}

// Stage is a part of a course: when it begins and how long it takes, ns, by how much
// less the start would take without it at most, which program is on the way, and what
// most of it goes into, with its share.
type Stage struct {
	From    int64   `json:"from"`
	NS      int64   `json:"ns"`
	Shorter int64   `json:"shorter_ns"`
	Who     string  `json:"who"`
	Why     string  `json:"why"`
	Share   float64 `json:"share"`
}

// followed notes that a trial was followed: of each environment the first few.
func (b *builder) followed(t *record.Trial, e int) {
	i := slices.IndexFunc(t.Samples, func(n string) bool { return strings.HasSuffix(n, "."+record.TraceSamples+".jsonl") })
	if i < 0 || len(b.traced[e]) == maxTraces || b.traced[e] == nil && len(b.traced) == maxCourses {
		return
	}
	b.traced[e] = append(b.traced[e], t.Samples[i])
}

// courses reads the traces of the trials that were followed; one that cannot be read
// is left out, and said to be.
func (b *builder) courses() error {
	for _, e := range slices.Sorted(maps.Keys(b.traced)) {
		var traces []*record.Trace
		for _, name := range b.traced[e] {
			t, err := b.trace(name)
			if err != nil {
				b.leave("A trace is left out: %v.", err)
				continue
			}
			traces = append(traces, t)
		}
		if len(traces) == 0 {
			continue
		}
		x, err := timeline.Explain(traces, nil)
		if err != nil {
			return fmt.Errorf("explaining the starts of %s: %w", b.d.Envs[e].ID, err)
		}
		if x.Lost > 0 {
			b.leave("The kernel had no room for %d events of the starts of %s that were followed.", x.Lost, b.d.Envs[e].Name)
		}
		c := Course{Env: e, Starts: x.Starts, NS: x.NS, Lanes: x.Median.Lanes(), Stages: []Stage{}}
		if bars(c.Lanes) > maxBars {
			b.leave("The lanes of %s have too many pieces for a page.", b.d.Envs[e].Name)
			continue
		}
		for _, s := range x.Median.Stages(x.Median.Span / 100) {
			c.Stages = append(c.Stages, Stage{From: s.From, NS: s.To - s.From, Shorter: s.Shorter, Who: s.Program, Why: s.Why, Share: s.Share})
		}
		b.d.Courses = append(b.d.Courses, c)
	}
	return nil
}

func (b *builder) trace(name string) (*record.Trace, error) {
	in, err := b.r.Samples(name)
	if err != nil {
		return nil, err
	}
	t, err := record.ReadTrace(in, name)
	return t, errors.Join(err, in.Close())
}

func bars(l *timeline.Lanes) int {
	n := len(l.Way)
	for _, t := range l.Threads {
		n += len(t.Bars)
	}
	return n
}
