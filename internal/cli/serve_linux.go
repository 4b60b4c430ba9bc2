package cli

import (
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/web"
)

// watchLive lets the pages follow a run that is measured on this machine, and
// keeps them out of its way. The result lets go.
func watchLive(o *web.Options) (close func()) {
	threads(func(tid int) { _ = unix.Setpriority(unix.PRIO_PROCESS, tid, 19) }) // who may not, is as kind as it may be
	o.Quiet, o.Used = stepBack, used
	o.Plan = plannedBy
	m, err := host.Machine{}.NewMeter()
	if err != nil {
		return func() {} // the pages then say nothing of the machine
	}
	o.Load = meterLoad(m)
	return func() { _ = m.Close() } // it was only read
}

// stepBack makes this process run only where a processor has nothing else to
// do, and on one at a time.
func stepBack() {
	runtime.GOMAXPROCS(1)
	threads(func(tid int) {
		_ = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: 19}, 0) // nice stays
	})
}

// used is the processor time of this process.
func used() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // of oneself it always works
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// threads does something to each thread of this process: priorities belong to
// threads, and a new thread has its maker's. It goes on until there is no new
// one.
func threads(do func(tid int)) {
	seen := map[int]bool{}
	for again := true; again; {
		again = false
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			do(0)
			return
		}
		for _, e := range entries {
			if tid, err := strconv.Atoi(e.Name()); err == nil && !seen[tid] {
				seen[tid], again = true, true
				do(tid)
			}
		}
	}
}

// plannedBy is the plan that a record leads to.
func plannedBy(r *record.Run) (web.Plan, error) {
	p, err := study.FromRun(r)
	if err != nil {
		return nil, err
	}
	return plannedTrials{p}, nil
}

// plannedTrials is a plan as the pages want it.
type plannedTrials struct{ *study.Plan }

// Trial gives the trial at a place.
func (p plannedTrials) Trial(seq int) (env, workload string, block int, warmup bool) {
	t := p.Plan.Trial(seq)
	return t.Env.ID, t.Workload.ID, t.Block, t.Warmup
}
