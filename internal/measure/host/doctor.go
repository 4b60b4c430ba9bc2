//go:build linux

package host

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// The levels of a remark.
const (
	levelInfo   = "info"
	levelWarn   = "warn"
	levelRefuse = "refuse"
)

// doctorWindow is how long the machine is watched: long enough for several
// ticks of the kernel's 10 ms accounting, short enough not to be noticed.
const doctorWindow = 300 * time.Millisecond

// exam is what the machine is looked at with; tests hand in other tools.
type exam struct {
	machine  Machine
	stateDir string // where a run's files will lie
	// containers are those that can be named.
	containers []Containers
	window     time.Duration
	sleep      func(context.Context, time.Duration)
	free       func(dir string) (free uint64, err error)
	ticker     func() error
}

// check looks at one thing. It is pure on what was read: see reading.
type check struct {
	name string
	look func(*reading) []record.Remark
}

// checks is the list of all checks, in the order in which their remarks are
// shown. To add one is to add a line; docs/doctor.md has a row for each code.
var checks = []check{
	{"clock", checkClock},
	{"steal", checkSteal},
	{"own cgroup", checkOwnCgroup},
	{"busy", checkBusy},
	{"pressure", checkPressure},
	{"containers", checkContainers},
	{"cpus", checkCPUs},
	{"frequency", checkFrequency},
	{"memory", checkMemory},
	{"disk", checkDisk},
	{"virtual", checkVirtual},
	{"kernel", checkKernel},
	{"timers", checkTimers},
	{"rights", checkRights},
	{"cgroup mode", checkCgroupMode},
}

// Doctor says what on this machine would disturb a measurement, whose files
// would lie in stateDir; known are the engines whose containers it can name. It watches
// for 300 ms, or for some seconds where that moment was too bad to measure in, and
// changes nothing.
func (m Machine) Doctor(ctx context.Context, stateDir string, known []Containers) []record.Remark {
	return exam{
		machine: m, stateDir: stateDir, containers: known, window: doctorWindow, free: freeBytes, ticker: monotonicClock,
		sleep: func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		},
	}.judge(ctx)
}

// judge looks for longer where the first look refuses the machine for what may pass.
func (e exam) judge(ctx context.Context) []record.Remark {
	l := e.run(ctx)
	if slices.ContainsFunc(l, func(r record.Remark) bool { return r.Code == stealHeavy }) {
		e.window *= 10
		l = e.run(ctx)
	}
	return l
}

func (e exam) run(ctx context.Context) []record.Remark {
	r := read(ctx, e)
	l := make([]record.Remark, 0, len(checks))
	for _, c := range checks {
		for _, m := range c.look(r) {
			m.Text = harmless.Text(m.Text) // programs are named in it
			l = append(l, m)
		}
	}
	return l
}

// reading is everything that the checks look at, read once.
type reading struct {
	exam   exam
	m      Machine
	facts  record.Host
	cpu    cpuInfo
	status selfStatus
	layout cgroups
	self   map[string]string // own cgroup by controller
	proc   procfs.FS

	before, after moment
	took          time.Duration
}

// moment is what is read at both ends of the window.
type moment struct {
	ticks     cpuTicks
	hasTicks  bool
	pressure  map[string]int64 // µs of "some", by resource
	throttled int64            // of our own cgroup, periods; -1 where unknown
	processes map[int]proc.Stat
}

func read(ctx context.Context, e exam) *reading {
	r := &reading{exam: e, m: e.machine}
	r.facts, _ = e.machine.Facts(e.stateDir)
	r.cpu, _ = parse(r.m, "/proc/cpuinfo", parseCPUInfo)
	r.status, _ = r.m.status()
	if mounts, err := r.m.proc().Mounts(proc.Self); err == nil {
		r.layout = cgroupLayout(mounts)
	}
	groups, _ := r.m.proc().Groups(proc.Self)
	r.self = groups.ByController()
	r.proc, _ = procfs.NewFS(r.m.path("/proc"))

	start := time.Now()
	r.before = r.moment()
	e.sleep(ctx, e.window)
	r.after = r.moment()
	r.took = max(time.Since(start), e.window)
	return r
}

func (r *reading) moment() moment {
	w := moment{pressure: map[string]int64{}, throttled: r.throttledPeriods(), processes: r.processes()}
	if b, err := os.ReadFile(r.m.path("/proc/stat")); err == nil {
		w.ticks, w.hasTicks = parseTicks(b)
	}
	for _, res := range []string{"cpu", "io", "memory"} {
		if b, err := os.ReadFile(r.m.path("/proc/pressure/" + res)); err == nil {
			if n, ok := field(b, "total="); ok {
				w.pressure[res] = n
			}
		}
	}
	return w
}

func (r *reading) processes() map[int]proc.Stat {
	all := map[int]proc.Stat{}
	for _, pid := range r.m.proc().PIDs() {
		if st, err := r.m.proc().Stat(pid); err == nil {
			all[pid] = st
		}
	}
	return all
}

// say makes a remark.
func say(level, code, text, advice string) record.Remark {
	return record.Remark{Code: code, Level: level, Text: text, Advice: advice}
}

// one is a list of one remark.
func one(level, code, text, advice string) []record.Remark {
	return []record.Remark{say(level, code, text, advice)}
}

// Refused says whether a remark is a refusal: no number from this machine, as
// it is now, could be trusted.
func Refused(l []record.Remark) bool {
	return slices.ContainsFunc(l, func(r record.Remark) bool { return r.Level == levelRefuse })
}

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// kernelConfig reads the kernel's configuration where it can be read.
func (r *reading) kernelConfig() io.ReadCloser {
	if f, err := openGzip(r.m.path("/proc/config.gz")); err == nil {
		return f
	}
	if rel := r.facts.Kernel; rel != "" && !strings.Contains(rel, "/") {
		if f, err := os.Open(r.m.path("/boot/config-" + rel)); err == nil {
			return f
		}
	}
	return nil
}
