package trace

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/containerd/ctrtest"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// TestFindsSync: containerd's shim writes through to the disk before it starts. All of
// that is found with the shim, whatever it becomes afterwards. What it waits for is seen
// event by event, and is the greater part; where others write to the same disk, some of it
// is a wait for who has the file system's lock, and is found there. What it computes is
// looked at only now and then, and is found within what that allows: once in three times
// it has to be.
func TestFindsSync(t *testing.T) {
	r, log, file := recorder(t), filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "written")
	shim := put(t, t.TempDir(), syncShim, job{Next: ctrtest.Needs(t, "containerd-shim-runc-v2"), Verb: "start", File: file, Log: log})
	b := blind{starts: 12, argv: ctrtest.Start(t, "--runtime", shim), log: log}
	var wrong string
	for range 3 {
		if wrong = b.missedSync(t, r); wrong == "" {
			return
		}
		t.Log(wrong)
	}
	t.Error(wrong)
}

// syncShim is the shim's name, which on a busy machine may be without its verb.
const syncShim = "containerd-shim-blind-v2"

func (b blind) missedSync(t *testing.T, r *Recorder) string {
	t.Helper()
	all := b.follow(t, r)
	var took, ran, queued []float64
	var waits, seen int64
	for i, s := range spells(t, b.log, len(all)) {
		of := s.seen(all[i])
		took, ran, queued = append(took, float64(s.took())), append(ran, float64(s.Ran)), append(queued, float64(of.queued))
		waits, seen = waits+s.Waits, seen+of.waits
	}
	whole, err := timeline.Explain(all, nil)
	require.NoError(t, err)
	// What it waited for a processor has a name of its own on the way.
	rest, computed := ofMiddle(all, took)-ofMiddle(all, queued), ofMiddle(all, ran)
	ready := caused(whole.Tree, syncShim, "waits for a processor (fsync)", false)
	waited, others := caused(whole.Tree, syncShim, "(fsync)", false)-ready, held(whole.Tree, syncShim, false)
	computes, interrupts := caused(whole.Tree, syncShim, "in fsync", false), caused(whole.Tree, syncShim, "interrupted", false)
	// As many ticks as fall into so much time scatter by their number's root: three
	// times that holds in all but one of some hundred tries. What the machine takes for
	// interrupts, or for others, passes in neither.
	near, seldom := rest/10, 3*math.Sqrt(computed*1e9/ticks/float64(len(all)))
	said := fmt.Sprintf("the fsyncs took %.2f ms without %.2f ms in which they could have gone on, and computed %.2f ms of them; found are %.2f ms of waits, %.2f ms that could go on, %.2f ms with others that had a lock, and %.2f ms that computed (interrupted: %.2f ms); within %.2f and %.2f ms; they waited %d times, and are seen to %d times",
		rest/1e6, ofMiddle(all, queued)/1e6, computed/1e6, waited/1e6, ready/1e6, others/1e6, computes/1e6, interrupts/1e6, near/1e6, seldom/1e6, waits, seen)
	t.Log(said)
	// No wait may pass for one for a processor. What it could have gone on is the fsyncs' too,
	// but for the little that it lies between two of them.
	if behind := ofMiddle(all, queued); ready < behind*3/4-near/2 || ready > behind*5/4+near/2 {
		return said + ":\n" + outline(whole.Tree, 0)
	}
	if waited+computes > rest+near+seldom || waited+others+computes+interrupts < rest-near-seldom || seen < waits-waits/10 {
		return said + ":\n" + outline(whole.Tree, 0)
	}
	return ""
}

// spells are what the work noted in each start.
func spells(t *testing.T, log string, starts int) (all []spell) {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	for line := range strings.FieldsSeq(string(text)) {
		var s spell
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		all = append(all, s)
	}
	if len(all) != starts {
		t.Fatalf("the work was done %d times in %d starts", len(all), starts)
	}
	return all
}

// took is how long the work took in all, ns.
func (s spell) took() (ns int64) {
	for _, span := range s.Spans {
		ns += span[1] - span[0]
	}
	return ns
}

// sight is what the trace has of a spell: how long the thread ran, how long it could have
// gone on and had no processor, from when it was woken, and how often it waited. The kernel's own count of
// that time, schedstat, begins only where the thread is in a processor's queue: one that
// sleeps, or is taken away from a virtual machine, puts it there milliseconds later.
type sight struct{ ran, queued, waits int64 }

func (s spell) seen(tr *record.Trace) (of sight) {
	th := timeline.Read(tr).Threads[s.Thread]
	if th == nil {
		return of
	}
	for _, in := range th.Intervals {
		for _, span := range s.Spans {
			from, to := max(in.From, span[0]-tr.From), min(in.To, span[1]-tr.From)
			if from >= to {
				continue
			}
			switch in.State {
			case timeline.Running:
				of.ran += to - from
			case timeline.Queued:
				of.queued += to - from
			case timeline.Waiting:
				of.waits++
			default:
			}
		}
	}
	return of
}

// ofMiddle is the mean of what the work took in those starts that an explanation is the
// mean of, ns.
func ofMiddle(all []*record.Trace, took []float64) float64 {
	span := func(i int) int64 { return all[i].To - all[i].From }
	var order []int
	for i := range all {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, k int) int { return int(span(i) - span(k)) })
	var sum float64
	middle := order[len(all)/4 : len(all)-len(all)/4]
	for _, i := range middle {
		sum += took[i]
	}
	return sum / float64(len(middle))
}

// held sums the time of those below a step who had what it, or one of them, waited for, ns.
func held(s *timeline.Step, step string, inside bool) (ns float64) {
	inside = inside || strings.Contains(s.Name, step)
	if inside && strings.Contains(s.Name, ", which has a lock") {
		return float64(s.NS)
	}
	for _, below := range s.Steps {
		ns += held(below, step, inside)
	}
	return ns
}
