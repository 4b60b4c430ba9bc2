//go:build linux

package host

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// Thresholds, as shares. Steal and pressure are of wall time; an interval of a
// few per cent around a median hides less than that.
const (
	stealWarn    = 0.01
	stealRefuse  = 0.10
	busyWarn     = 0.10
	pressureWarn = 0.05
)

// stealHeavy is the remark on a machine whose processors others have.
const stealHeavy = "steal-heavy"

func checkSteal(r *reading) []record.Remark {
	if !r.before.hasTicks || !r.after.hasTicks {
		return nil
	}
	d := r.after.ticks.minus(r.before.ticks)
	// One tick of 10 ms in a window of 300 ms is already 3 % of one CPU: a
	// single one proves nothing.
	if d.total() <= 0 || d.Steal < 2 {
		return nil
	}
	share := float64(d.Steal) / float64(d.total())
	text := fmt.Sprintf("The hypervisor took %.0f %% of the CPU time away within %d ms.", 100*share, r.took.Milliseconds())
	switch {
	case share > stealRefuse:
		return one(levelRefuse, stealHeavy, text, "measure on another machine or at another time: no number can be trusted like this")
	case share > stealWarn:
		return one(levelWarn, "steal", text, "measure when the physical machine is less busy, or on a dedicated one")
	}
	return nil
}

func checkBusy(r *reading) []record.Remark {
	d := r.after.ticks.minus(r.before.ticks)
	if !r.before.hasTicks || !r.after.hasTicks || d.total() <= 0 {
		return nil
	}
	// The window's ticks hold our own look at the machine, too: less than one.
	used := float64(d.busy()-d.Steal) / float64(d.total())
	load := ""
	l, err := r.proc.LoadAvg()
	high := err == nil && r.facts.CPUs > 0 && l.Load1 >= float64(r.facts.CPUs)
	if err == nil {
		load = fmt.Sprintf(" (load average %.2f)", l.Load1)
	}
	if used <= busyWarn && !high {
		return nil
	}
	if used <= busyWarn {
		// The average still holds what has just ended.
		text := fmt.Sprintf("The load average of the last minute is %.2f on %d CPUs, though other programs use %.0f %% of them now.", l.Load1, r.facts.CPUs, 100*used)
		return one(levelWarn, "busy", text, "wait for a minute; if it stays, see what waits for a disk")
	}
	text := fmt.Sprintf("Other programs use %.0f %% of the CPUs%s%s.", 100*used, load, r.busiest())
	return one(levelWarn, "busy", text, "end them, or wait until they have ended")
}

// busiest names the programs that used the CPU most within the window.
func (r *reading) busiest() string {
	type use struct {
		comm  string
		ticks uint64
	}
	var l []use
	for pid, now := range r.after.processes {
		was, had := r.before.processes[pid]
		if pid == os.Getpid() || !had || was.Start != now.Start || now.Ticks <= was.Ticks {
			continue
		}
		l = append(l, use{now.Comm, now.Ticks - was.Ticks})
	}
	slices.SortFunc(l, func(a, b use) int { return cmp.Or(cmp.Compare(b.ticks, a.ticks), cmp.Compare(a.comm, b.comm)) })
	l = l[:min(3, len(l))]
	names := make([]string, 0, len(l))
	for _, u := range l {
		names = append(names, u.comm)
	}
	if len(names) == 0 {
		return ""
	}
	return ", most of it " + strings.Join(names, ", ")
}

func checkPressure(r *reading) []record.Remark {
	what := map[string][3]string{
		"cpu":    {"a CPU", "end what else runs, or wait until it has ended", "cpu-pressure"},
		"io":     {"a disk", "wait until what writes or reads has ended", "io-pressure"},
		"memory": {"memory", "end what uses the memory", "memory-pressure"},
	}
	var l []record.Remark
	seen := false
	for _, res := range []string{"cpu", "io", "memory"} {
		was, ok1 := r.before.pressure[res]
		now, ok2 := r.after.pressure[res]
		if !ok1 || !ok2 {
			continue
		}
		seen = true
		share := float64(now-was) / float64(r.took.Microseconds())
		text := fmt.Sprintf("Processes waited for %s during %.0f %% of the last %d ms.", what[res][0], 100*min(share, 1), r.took.Milliseconds())
		if psi, err := r.proc.PSIStatsForResource(res); err == nil && psi.Some != nil && psi.Some.Avg10/100 > share {
			share = psi.Some.Avg10 / 100
			text = fmt.Sprintf("Processes waited for %s during %.0f %% of the last 10 s.", what[res][0], 100*share)
		}
		if share > pressureWarn {
			l = append(l, say(levelWarn, what[res][2], text, what[res][1]))
		}
	}
	if !seen {
		l = append(l, say(levelInfo, "no-psi", "The kernel does not say how long processes wait (no pressure stall information), so disturbances during a trial are harder to see.",
			"boot with psi=1, where the kernel has it"))
	}
	return l
}
