package trace

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"plimsoll/internal/measure/engine/containerd/ctrtest"
	"plimsoll/internal/understand/timeline"
)

// TestFindsLock: a runtime's wrapper wants a file's lock before it creates, which another
// process has. How long it waited in a start is the wrapper's own stopwatch, less what the
// kernel's record of that very start says that its thread ran, or could have: a busy
// machine makes these longer, and the wait no other. As long has whoever has the lock to
// be on the way, who pauses meanwhile unless it waits for a processor itself.
func TestFindsLock(t *testing.T) {
	r, crun, dir, log := recorder(t), ctrtest.Needs(t, "crun"), bundle(t), filepath.Join(t.TempDir(), "log")
	file := filepath.Join(dir, "lock")
	runBeside(t, put(t, dir, "lock-holder", job{File: file, NS: 20e6}))
	path := put(t, dir, "locking-runtime", job{Next: crun, Verb: "create", File: file, Log: log})
	b := blind{starts: 6, argv: inSteps(t, path, dir), log: log,
		step: "lock-holder, which has a lock on a file", cause: "a pause that it makes itself"}
	var wrong string
	for range 6 {
		if wrong = b.missedLock(t, r); wrong == "" {
			return
		}
		t.Log(wrong)
	}
	t.Error(wrong)
}

func (b blind) missedLock(t *testing.T, r *Recorder) string {
	t.Helper()
	all := b.follow(t, r)
	var waited, found, paused, queued float64
	var trees string
	for i, s := range spells(t, b.log, len(all)) {
		if all[i].Tail.Lost > 0 {
			return fmt.Sprintf("%d events found no room", all[i].Tail.Lost)
		}
		of, tree := s.seen(all[i]), timeline.Read(all[i]).Tree()
		waited += float64(s.took() - of.ran - of.queued)
		found += float64(at(tree, b.step))
		paused += caused(tree, b.step, b.cause, false)
		queued += caused(tree, b.step, "waits for a processor", false)
		trees += outline(tree, 0)
	}
	said := fmt.Sprintf("%d starts waited %.2f ms for the lock; found are %.2f ms behind whoever has it, %.2f ms of them its pause and %.2f ms its wait for a processor",
		len(all), waited/1e6, found/1e6, paused/1e6, queued/1e6)
	switch {
	case waited < 10e6: // the lock was free nearly each time
		return said + ": too little to tell"
	case math.Abs(found-waited) > waited/10, paused < 0.9*(found-queued):
		return said + ":\n" + trees
	}
	t.Log(said)
	return ""
}
