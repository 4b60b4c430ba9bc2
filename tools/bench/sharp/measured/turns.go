package measured

import (
	"context"
	"os"
	"time"

	"plimsoll/internal/measure/run"
	"plimsoll/tools/bench/sharp"
)

// turns lets hyperfine measure between blocks of ours, so that both have the same
// minutes and as much of them. It stands where a run tells of its progress, which
// is between trials.
type turns struct {
	run.NoProgress
	ctx context.Context
	// ready ends the warm-up: from then on hyperfine knows its command.
	ready func() (*hyperfine, error)
	them  *hyperfine
	block int
	since time.Time // the end of its last round
	ours  time.Duration
	their time.Duration
	// rounds are what it measured; before says how long it took before a block.
	rounds []sharp.Round
	failed int
	before map[int]time.Duration
	err    error
	stop   func()
	stage  func(string)
}

// Step tells what a run does before its trials.
func (t *turns) Step(text string) {
	if t.stage != nil {
		t.stage(text)
	}
}

func (t *turns) Trial(u run.Upcoming) {
	if u.Warmup || u.Block == t.block || t.err != nil || t.ready == nil {
		return
	}
	t.block = u.Block
	begin := time.Now()
	if t.them == nil {
		if t.them, t.err = t.ready(); t.err != nil {
			t.stop()
			return
		}
		t.before = map[int]time.Duration{}
	} else {
		t.ours += begin.Sub(t.since)
	}
	if t.their <= t.ours {
		said := context.AfterFunc(t.ctx, func() { t.Step("hyperfine ends its round first") })
		r, failed, err := t.them.round(t.ctx)
		said()
		t.failed += failed
		if err != nil {
			t.err = err
			t.stop()
			return
		}
		t.rounds = append(t.rounds, r)
		t.their += time.Duration(r.Wall)
		t.before[u.Block] = time.Since(begin)
	}
	t.since = time.Now()
}

// swap puts one file in the place of another at once, so that whoever executes it
// finds either.
func swap(from, to string) error { return os.Rename(from, to) }
