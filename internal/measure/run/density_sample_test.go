package run

import (
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestPace: readings that cost little are as often as they should be, though one now and
// then takes long, and those that cost much take no more than their share.
func TestPace(t *testing.T) {
	const long = time.Minute
	for name, c := range map[string]struct {
		took        func(i int) time.Duration
		least, most int
	}{
		"cheap": {func(int) time.Duration { return 250 * time.Microsecond }, 1190, 1200},
		"cheap, but for one in a hundred": {func(i int) time.Duration {
			if i%100 == 50 {
				return 8 * time.Millisecond
			}
			return 250 * time.Microsecond
		}, 1190, 1200},
		"of a large machine":       {func(int) time.Duration { return time.Millisecond }, 590, 612},
		"of a machine under water": {func(int) time.Duration { return 30 * time.Millisecond }, 20, 21},
	} {
		var p pace
		begin := time.Unix(1, 0)
		cpu := time.Duration(0)
		n := 0
		for at := begin; at.Before(begin.Add(long)); n++ {
			took := c.took(n)
			cpu += took
			at = p.next(at, took)
		}
		if n < c.least || n > c.most {
			t.Errorf("%s: %d readings in %v, want %d to %d", name, n, long, c.least, c.most)
		}
		if most := (long + sampleCredit) / sampleShare; cpu > most+30*time.Millisecond {
			t.Errorf("%s: they take %v of CPU time, want %v at most", name, cpu, most)
		}
		if 2*p.late > p.n != (c.most < 1000) {
			t.Errorf("%s: %d of %d were late", name, p.late, p.n)
		}
	}
}

// TestSampleShare: where a reading takes long there are few, and the record says so.
func TestSampleShare(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	a := &ramp{o: &openEnv{}}
	end := a.sampleBy(func() (int64, bool) {
		for begun := threadTime(); threadTime()-begun < 30*time.Millisecond; {
		}
		return 1, true
	})
	time.Sleep(8 * sampleEvery)
	end()
	if len(a.samples) != 1 {
		t.Errorf("%d readings of 30 ms, where one is more than a second's share", len(a.samples))
	}
	// It may be more: what a hypervisor takes away the kernel may count as the thread's.
	said := regexp.MustCompile(`a reading takes (\S+) ms`).FindStringSubmatch(strings.Join(a.remarks, "\n"))
	if len(a.remarks) != 1 || said == nil {
		t.Fatalf("%q", a.remarks)
	}
	if ms, err := strconv.ParseFloat(said[1], 64); err != nil || ms < 30 {
		t.Errorf("%v, %v: %q", ms, err, a.remarks)
	}
	a = &ramp{o: &openEnv{}}
	var read atomic.Int64
	end = a.sampleBy(func() (int64, bool) { read.Add(1); return 1, true })
	for begin := time.Now(); read.Load() < 5 && time.Since(begin) < 30*time.Second; {
		time.Sleep(sampleEvery)
	}
	end()
	if len(a.samples) < 4 || len(a.remarks) > 0 {
		t.Errorf("%d readings that cost nothing, and %q", len(a.samples), a.remarks)
	}
}
