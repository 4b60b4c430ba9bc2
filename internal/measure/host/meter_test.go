//go:build linux

package host

import (
	"os"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestMeter(t *testing.T) {
	m := stored(t, "debian12-vm-hybrid")
	m.set(t, "/proc/stat", "cpu  1000 0 500 100000 10 0 5 7 0 0\n")
	m.set(t, "/proc/loadavg", "0.05 0.03 0.04 3/94 8077\n")
	m.set(t, "/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n")
	b, err := m.NewMeter()
	require.NoError(t, err)
	defer b.Close()
	at := time.Now()
	b.at, b.now = at, func() time.Time { at = at.Add(time.Second); return at }
	// 200 ticks of two processors: 50 at work, 10 of them stolen.
	overwrite(t, m.path("/proc/stat"), "cpu  1020 0 520 100140 20 0 5 17 0 0\n")
	overwrite(t, m.path("/proc/pressure/cpu"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=250100\n")
	got, ok := b.Read()
	if want := (Busy{Busy: 0.25, Steal: 0.05, Running: 2, Waiting: 0.25}); !ok || got != want {
		t.Errorf("%+v, %v; want %+v", got, ok, want)
	}
	if got, ok := b.Read(); ok {
		t.Errorf("of no time it says %+v", got)
	}
	overwrite(t, m.path("/proc/stat"), "cpu  1020 0 520 100130 20 0 5 10 0 0\n") // backwards
	if got, _ := b.Read(); got.Busy < 0 || got.Steal < 0 {
		t.Errorf("%+v", got)
	}
}

func TestMeterWithoutPSI(t *testing.T) {
	m := stored(t, "ubuntu2404-metal-v2")
	gone(t, os.RemoveAll(m.path("/proc/pressure")))
	b, err := m.NewMeter()
	require.NoError(t, err)
	defer b.Close()
	if got, _ := b.Read(); got.Waiting != -1 {
		t.Errorf("%+v", got)
	}
}
