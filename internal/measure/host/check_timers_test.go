//go:build linux

package host

import (
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// TestDoctorNamesTimers: those that are enabled and heavy, each once, where systemd is
// what would start them.
func TestDoctorNamesTimers(t *testing.T) {
	m := stored(t, "debian12-vm-hybrid")
	timers := func() []record.Remark {
		l := examOf(m, nil).run(t.Context())
		inForm(t, l)
		return slices.DeleteFunc(l, func(r record.Remark) bool { return r.Code != "timers" })
	}
	m.set(t, "/etc/systemd/system/timers.target.wants/man-db.timer", "")
	m.set(t, "/etc/systemd/system/timers.target.wants/apt-daily.timer", "")
	m.set(t, "/usr/lib/systemd/system/timers.target.wants/apt-daily.timer", "")
	m.set(t, "/usr/lib/systemd/system/timers.target.wants/systemd-tmpfiles-clean.timer", "") // light
	m.set(t, "/usr/lib/systemd/system/fstrim.timer", "")                                     // not enabled
	m.set(t, "/etc/systemd/system/timers.target.wants/e2scrub_all.timer", "")
	require.NoError(t, os.Symlink("/dev/null", m.path("/etc/systemd/system/e2scrub_all.timer"))) // masked
	if l := timers(); len(l) != 0 {
		t.Errorf("without systemd: %+v", l)
	}
	m.set(t, "/run/systemd/system/.keep", "")
	l := timers()
	if len(l) != 1 || !strings.HasSuffix(l[0].Text, ": apt-daily.timer, man-db.timer.") || !strings.Contains(l[0].Advice, "systemctl stop apt-daily.timer man-db.timer") {
		t.Errorf("%+v", l)
	}
}
