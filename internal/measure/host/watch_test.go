//go:build linux

package host

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

func TestSampler(t *testing.T) {
	m := stored(t, "debian12-vm-hybrid")
	m.set(t, "/proc/stat", "cpu  1000 0 500 100000 10 0 5 7 0 0\n")
	for _, r := range []string{"cpu", "memory", "io"} {
		m.set(t, "/proc/pressure/"+r, "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n")
	}
	s, err := m.NewSampler()
	require.NoError(t, err)
	s.Begin()
	// In place: the files stay open.
	overwrite(t, m.path("/proc/stat"), "cpu  1000 0 500 100000 10 0 5 9 0 0\n")
	overwrite(t, m.path("/proc/pressure/cpu"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=101\n")
	overwrite(t, m.path("/proc/pressure/memory"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=102\n")
	overwrite(t, m.path("/proc/pressure/io"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=99\n") // backwards
	want := record.Disturbance{StealNS: 20e6, CPUPressureNS: 1000, MemoryPressureNS: 2000}
	if got := *s.End(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, f.Close())
}

func TestSamplerWithoutPSIAndWithoutHypervisor(t *testing.T) {
	m := stored(t, "ubuntu2404-metal-v2")
	gone(t, os.RemoveAll(m.path("/proc/pressure")))
	s, err := m.NewSampler()
	require.NoError(t, err)
	defer func() { gone(t, s.Close()) }()
	if s.stat != nil {
		t.Error("/proc/stat is read where nothing can be stolen")
	}
	s.Begin()
	if got := *s.End(); got != (record.Disturbance{}) {
		t.Errorf("got %+v", got)
	}
}

func TestSamplerOnThisMachine(t *testing.T) {
	s, err := Machine{}.NewSampler()
	require.NoError(t, err)
	defer func() { gone(t, s.Close()) }()
	// The counters run on: two samplers see the same order of things.
	for range 3 {
		s.Begin()
		d := s.End()
		if d.StealNS < 0 || d.CPUPressureNS < 0 {
			t.Errorf("got %+v", d)
		}
	}
	if _, err := os.Stat("/proc/pressure/cpu"); err == nil && s.cpu != nil && s.now().CPUPressureNS < 0 {
		t.Error("the pressure of this machine could not be read")
	}
}

// fakeQuiet waits on a clock of its own; each sleep calls during.
func fakeQuiet(t *testing.T, m Machine, during func(now time.Duration)) *Quiet {
	t.Helper()
	q, err := m.NewQuiet()
	require.NoError(t, err)
	t.Cleanup(func() { gone(t, q.Close()) })
	var now time.Duration
	q.now = func() time.Time { return time.Unix(0, int64(now)) }
	q.sleep = func(d time.Duration) {
		now += d
		if during != nil {
			during(now)
		}
	}
	return q
}

func TestQuiet(t *testing.T) {
	const calm, busy = "0.05 0.03 0.04 1/94 8077\n", "0.05 0.03 0.04 3/94 8077\n"
	machine := func() Machine {
		m := stored(t, "debian12-vm-hybrid")
		m.set(t, "/proc/loadavg", calm)
		m.set(t, "/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n")
		return m
	}
	t.Run("a calm machine takes one window", func(t *testing.T) {
		c := fakeQuiet(t, machine(), nil).Wait(t.Context(), Limit{})
		if !c.Reached || c.Waited != 500*time.Microsecond {
			t.Errorf("%+v", c)
		}
	})
	t.Run("one that calms down", func(t *testing.T) {
		m := machine()
		m.set(t, "/proc/loadavg", busy)
		c := fakeQuiet(t, m, func(now time.Duration) {
			if now > 10*time.Millisecond {
				overwrite(t, m.path("/proc/loadavg"), calm)
			}
		}).Wait(t.Context(), Limit{})
		if !c.Reached || c.Waited < 10*time.Millisecond || c.Waited > 25*time.Millisecond {
			t.Errorf("%+v", c)
		}
	})
	t.Run("windows grow", func(t *testing.T) {
		const ms = time.Millisecond
		grows := Limit{Window: ms}
		even := Limit{Window: ms, Even: 4, Most: 2 * ms}
		for _, x := range []struct {
			limit        Limit
			busy, waited time.Duration // two of four looks fall into what is busy of a window
		}{
			{grows, ms / 2, 3 * ms}, {grows, 2 * ms, 7 * ms}, {grows, 5 * ms, 11 * ms}, {grows, 9 * ms, 15 * ms},
			{Limit{Window: 8 * ms, Most: 2 * ms}, 9 * ms, 16 * ms},
			{even, ms / 2, 2 * ms}, {even, 3 * ms / 2, 3 * ms}, {even, 5 * ms / 2, 4 * ms}, {even, 7 * ms / 2, 6 * ms}, {even, 5 * ms, 8 * ms}, {even, 9 * ms, 12 * ms},
		} {
			m := machine()
			m.set(t, "/proc/loadavg", busy)
			c := fakeQuiet(t, m, func(now time.Duration) {
				if now > x.busy {
					overwrite(t, m.path("/proc/loadavg"), calm)
				}
			}).Wait(t.Context(), x.limit)
			if !c.Reached || c.Waited != x.waited {
				t.Errorf("busy for %v, %+v: %+v, not %v", x.busy, x.limit, c, x.waited)
			}
		}
	})
	t.Run("timers that are late are so once in a window", func(t *testing.T) {
		q := fakeQuiet(t, machine(), nil)
		const late = 80 * time.Microsecond
		sleep := q.sleep
		q.sleep = func(d time.Duration) { sleep(d + late) }
		if c := q.Wait(t.Context(), Limit{Window: time.Millisecond}); !c.Reached || c.Waited != time.Millisecond+late {
			t.Errorf("%+v", c)
		}
	})
	t.Run("one that never does", func(t *testing.T) {
		m := machine()
		m.set(t, "/proc/loadavg", busy)
		c := fakeQuiet(t, m, nil).Wait(t.Context(), Limit{Wait: 50 * time.Millisecond})
		if c.Reached || c.Waited > 50*time.Millisecond || c.Running != 2 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("pressure alone", func(t *testing.T) {
		m := machine()
		us := 100
		c := fakeQuiet(t, m, func(now time.Duration) {
			us = int(now.Microseconds()) / 2 // somebody waits half of the time
			overwrite(t, m.path("/proc/pressure/cpu"), "some avg10=0.00 total="+strconv.Itoa(us)+"\n")
		}).Wait(t.Context(), Limit{Wait: 50 * time.Millisecond})
		if c.Reached || c.Pressure < 0.4 || c.Pressure > 0.6 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("what can't be seen is not calm", func(t *testing.T) {
		m := machine()
		m.set(t, "/proc/loadavg", "nonsense\n")
		if c := fakeQuiet(t, m, nil).Wait(t.Context(), Limit{Wait: time.Millisecond}); c.Reached {
			t.Errorf("%+v", c)
		}
	})
	t.Run("without PSI", func(t *testing.T) {
		m := machine()
		gone(t, os.RemoveAll(m.path("/proc/pressure")))
		if c := fakeQuiet(t, m, nil).Wait(t.Context(), Limit{}); !c.Reached {
			t.Errorf("%+v", c)
		}
	})
	t.Run("an ended context", func(t *testing.T) {
		m := machine()
		m.set(t, "/proc/loadavg", busy)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c := fakeQuiet(t, m, nil).Wait(ctx, Limit{}); c.Reached || c.Waited > time.Millisecond {
			t.Errorf("%+v", c)
		}
	})
}

func TestQuietNeedsLoadavg(t *testing.T) {
	if _, err := (Machine{Root: filepath.Join(t.TempDir(), "none")}).NewQuiet(); err == nil {
		t.Error("a machine without /proc/loadavg can be watched")
	}
}

func BenchmarkSampler(b *testing.B) {
	s, err := Machine{}.NewSampler()
	require.NoError(b, err)
	defer func() { gone(b, s.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		s.Begin()
		s.End()
	}
}

func BenchmarkQuiet(b *testing.B) {
	q, err := Machine{}.NewQuiet()
	require.NoError(b, err)
	defer func() { gone(b, q.Close()) }()
	reached := 0
	for b.Loop() {
		if q.Wait(context.Background(), Limit{}).Reached {
			reached++
		}
	}
	b.ReportMetric(float64(reached)/float64(b.N), "reached/op")
}
