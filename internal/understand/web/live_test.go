package web

import (
	"math"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/evaluate"
)

// living begins a run in a folder that is followed.
func living(t *testing.T, folder string) (w *record.Writer, run *record.Run, plan listPlan) {
	t.Helper()
	s := small(3)
	run, plan = s.Run(), planOf(s)
	run.Status, run.Finished = running, time.Time{}
	w, err := record.Create(filepath.Join(folder, "live"), run)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w, run, plan
}

func plans(p listPlan) func(*record.Run) (Plan, error) {
	return func(*record.Run) (Plan, error) { return p, nil }
}

func TestLive(t *testing.T) {
	folder := t.TempDir()
	w, run, plan := living(t, folder)
	var hushed atomic.Int64
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan), Quiet: func() { hushed.Add(1) }})
	id := x.run(t, "live").ID
	x.least = 5 * time.Millisecond
	v := x.watch(t, id)
	first := v.until(t, "the beginning", func(Live) bool { return true })[0]
	if !first.Whole || first.Status != running || first.Total != len(plan) || first.Done != 0 || first.Now == nil || first.Now.Env != plan[0].Env || !first.Now.Warmup {
		t.Fatalf("%+v", first)
	}
	half := len(plan) / 2
	done := 0
	add := func(n int) {
		for range n {
			require.NoError(t, w.Append(plan[done]))
			done++
		}
	}
	seen := first
	for _, n := range []int{1, 5, 20, half - 26} {
		add(n)
		for _, l := range v.until(t, "what was added", func(l Live) bool { return l.Done == done }) {
			if l.Revision <= seen.Revision || l.Done < seen.Done {
				t.Fatalf("%+v came after %+v", l, seen)
			}
			if l.Done < len(plan) && (l.Now == nil || l.Now.Env != plan[l.Done].Env) {
				t.Errorf("after %d trials it says that %+v is next, and %s is", l.Done, l.Now, plan[l.Done].Env)
			}
			seen = l
		}
	}
	if seen.LeftNS < int64(time.Duration(len(plan)-done)*900*time.Millisecond) || seen.LeftNS > int64(time.Duration(len(plan)-done)*1100*time.Millisecond) {
		t.Errorf("a trial takes a second, %d are left, and it says %v", len(plan)-done, time.Duration(seen.LeftNS))
	}
	if hushed.Load() != 1 {
		t.Errorf("it stepped back %d times for a run that is being measured, not once", hushed.Load())
	}

	// Who comes now gets all, and it is what a report says.
	late := x.watch(t, id)
	all := late.until(t, "all", func(l Live) bool { return l.Done == done })
	sameAsReport(t, all[len(all)-1], filepath.Join(folder, "live"))

	// A line that is not whole waits; the run ends.
	add(len(plan) - done)
	run.Status, run.Finished = "done", time.Now()
	require.NoError(t, w.Update(run))
	last := v.until(t, "the end", func(l Live) bool { return l.Status == "done" })
	if l := last[len(last)-1]; l.Done != len(plan) || l.Now != nil || l.Killed {
		t.Errorf("%+v", l)
	}
	<-v.ended
	<-late.ended
}

// sameAsReport holds medians and intervals against the analysis.
func sameAsReport(t *testing.T, l Live, dir string) {
	t.Helper()
	r, err := record.Open(dir)
	require.NoError(t, err)
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	if !l.Whole || len(l.Cells) != len(res.Environments) {
		t.Fatalf("whole is %v with %d cells, the run has %d", l.Whole, len(l.Cells), len(res.Environments))
	}
	near := func(a, b *float64) bool { return a == b || a != nil && b != nil && math.Abs(*a-*b) < 1e-9*math.Abs(*b) }
	for _, c := range l.Cells {
		cell := res.Workload(c.Workload).Table(c.Metric.ID).Cell(c.Env)
		if c.N != cell.N || c.Median.Value != cell.Median.Value || !near(c.Median.Lo, cell.Median.Lo) || !near(c.Median.Hi, cell.Median.Hi) {
			t.Errorf("%s: live says %d values, %+v; the report %d, %+v", c.Env, c.N, c.Median, cell.N, cell.Median)
		}
		if len(c.Course) < 3 {
			t.Errorf("%s: its course has %d marks", c.Env, len(c.Course))
		}
	}
}

func TestKilled(t *testing.T) {
	folder := t.TempDir()
	w, _, plan := living(t, folder)
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan)})
	id := x.run(t, "live").ID
	x.least = 5 * time.Millisecond
	v := x.watch(t, id)
	v.until(t, "running", func(l Live) bool { return l.Status == running && !l.Killed })
	// A kill lets go of the lock, and may leave half of a line.
	require.NoError(t, w.Close())
	f, err := os.OpenFile(filepath.Join(folder, "live", record.TrialsFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	if _, err := f.WriteString(`{"seq":0,"block":0,"env":"nat`); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, f.Close())
	l := v.until(t, "interrupted", func(l Live) bool { return l.Status == interrupted })
	if last := l[len(l)-1]; !last.Killed || last.Problem != "" || last.Now != nil {
		t.Errorf("%+v", last)
	}
	if r := x.run(t, "live"); r.Status != interrupted || !r.Killed {
		t.Errorf("the index says %+v", r)
	}
	// It is gone on with, and that is seen without asking anew.
	w, run, err := record.Resume(filepath.Join(folder, "live"))
	require.NoError(t, err)
	defer w.Close()
	require.NoError(t, w.Append(plan[0]))
	require.NoError(t, w.Update(run))
	v.until(t, "running again", func(l Live) bool { return l.Status == running && l.Done == 1 })
}

func TestDamagedWhileLooking(t *testing.T) {
	folder := t.TempDir()
	w, _, plan := living(t, folder)
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan)})
	id := x.run(t, "live").ID
	x.least = 5 * time.Millisecond
	v := x.watch(t, id)
	trial := record.Trial{Seq: 0, Env: "nobody", Workload: "hello"}
	require.NoError(t, w.Append(&trial))
	v.until(t, "an unknown environment", func(l Live) bool { return l.Problem != "" && l.Done == 0 })
	f, err := os.OpenFile(filepath.Join(folder, "live", record.TrialsFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	if _, err := f.WriteString("this is no trial\n"); err != nil {
		t.Fatal(err)
	}
	v.until(t, "the damage", func(l Live) bool { return strings.Contains(l.Problem, "damaged") })
}

// TestManyViewers: one watcher follows a run, and its data are built seldom,
// however many look.
func TestManyViewers(t *testing.T) {
	folder := t.TempDir()
	w, _, plan := living(t, folder)
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan)})
	x.shelf.rest = time.Hour
	id := x.run(t, "live").ID
	x.least = 5 * time.Millisecond
	const n = 30
	before := runtime.NumGoroutine()
	files := openFiles(t)
	var viewers []*viewer
	for range n {
		viewers = append(viewers, x.watch(t, id))
	}
	for _, v := range viewers {
		v.until(t, "the beginning", func(Live) bool { return true })
	}
	x.mu.Lock()
	watchers := len(x.watchers)
	x.mu.Unlock()
	if watchers != 1 {
		t.Errorf("%d watchers follow one run", watchers)
	}
	done := 0
	for ; done < 60; done++ {
		require.NoError(t, w.Append(plan[done]))
		if done%10 == 0 {
			if status, _, body := x.get(t, "/api/runs/"+id); status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
		}
	}
	for _, v := range viewers {
		v.until(t, "all", func(l Live) bool { return l.Done == done })
	}
	if b := x.builds.Load(); b != 1 {
		t.Errorf("the data were built %d times while the run went on", b)
	}

	// Nobody looks: nothing happens, and nothing is held.
	for _, v := range viewers {
		v.close()
		<-v.ended
	}
	x.client.CloseIdleConnections()
	for i := 0; runtime.NumGoroutine() > before || openFiles(t) > files; i++ {
		if i == 3000 {
			t.Fatalf("%d goroutines and %d files before, %d and %d after", before, files, runtime.NumGoroutine(), openFiles(t))
		}
		time.Sleep(10 * time.Millisecond)
	}
	looked := steps.Load()
	time.Sleep(50 * time.Millisecond)
	if now := steps.Load(); now != looked {
		t.Errorf("%d looks while nobody looks", now-looked)
	}
}

// openFiles counts the descriptors of this process, 0 where it cannot be told.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

func TestTooManyViewers(t *testing.T) {
	folder := t.TempDir()
	_, _, plan := living(t, folder)
	x := open(t, Options{Dirs: []string{folder}, Plan: plans(plan)})
	id := x.run(t, "live").ID
	x.mu.Lock()
	x.viewers = maxViewers
	x.mu.Unlock()
	if status, _, body := x.get(t, "/api/runs/"+id+"/events"); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, body)
	}
}

func TestSeldom(t *testing.T) {
	var k kept
	k.max = 3
	made := 0
	get := func(key string, now stamp, good time.Duration) int {
		_, err := k.get(key, now, func() (*document, time.Duration, error) {
			made++
			return &document{}, good, nil
		})
		require.NoError(t, err)
		return made
	}
	going := func(trials int64) stamp {
		return stamp{files: [5]mark{{size: 1}, {size: trials}}, written: true}
	}
	for _, c := range []struct {
		what string
		now  stamp
		want int
	}{
		{"the first", going(1), 1},
		{"unchanged", going(1), 1},
		{"a run that goes on, too soon", going(2), 1},
		{"it was killed", stamp{files: going(2).files}, 2},
		{"still", stamp{files: going(2).files}, 2},
		{"its run.json has changed", stamp{files: [5]mark{{size: 2}, {size: 2}}, written: true}, 3},
	} {
		if got := get("a", c.now, time.Hour); got != c.want {
			t.Errorf("%s: made %d times, not %d", c.what, got, c.want)
		}
	}
	for _, key := range []string{"b", "c", "d", "e"} {
		get(key, going(1), 0)
	}
	if len(k.items) > 3 || k.sum > 3 {
		t.Errorf("%d are kept, of the weight %d", len(k.items), k.sum)
	}
}
