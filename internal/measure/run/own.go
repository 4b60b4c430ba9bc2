package run

import (
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/record"
)

// clockUsage is how much processor time this program had used at a time.
type clockUsage struct {
	at  time.Time
	cpu int64 // ns, of all its threads and of none of its children
}

func usageNow() clockUsage {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it fails for another first argument only
	return clockUsage{time.Now(), u.Utime.Nano() + u.Stime.Nano()}
}

// addTo adds what was used since then.
func (u clockUsage) addTo(cpu, wall *int64) {
	now := usageNow()
	*cpu += now.cpu - u.cpu
	*wall += int64(now.at.Sub(u.at))
}

// ownShare is the share of one processor that was used so far; 0 is unknown.
func (s *site) ownShare() float64 {
	if s.rec.Own == nil {
		return 0
	}
	return s.rec.Own.Share()
}

// own counts what the program takes itself, real trials alone: of simulated
// ones nearly everything is its own.
func (s *site) own() *record.Own {
	if s.rec.Own == nil {
		s.rec.Own = &record.Own{}
	}
	return s.rec.Own
}
