//go:build linux

package collect

import (
	"math"
	"os"
	"testing"

	"github.com/containerd/cgroups/v3/cgroup1"
	v1 "github.com/containerd/cgroups/v3/cgroup1/stats"
	"github.com/containerd/cgroups/v3/cgroup2"
	"github.com/prometheus/procfs"

	"plimsoll/internal/common/require"
)

func bytesOf(t *testing.T, m *machine, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(m.path(name))
	require.NoError(t, err)
	return b
}

func same(t *testing.T, what string, ours int64, theirs uint64) {
	t.Helper()
	if ours < 0 || uint64(ours) != theirs {
		t.Errorf("%s: ours %d, the library's %d", what, ours, theirs)
	}
}

// Our parsers say what prometheus/procfs says of the same files.
func TestParsersAgainstProcfs(t *testing.T) {
	m := fixture(t, "v1.txtar")
	fs, err := procfs.NewFS(m.path("/proc"))
	require.NoError(t, err)
	stat, err := fs.Stat()
	require.NoError(t, err)
	c, ok := parseStat(bytesOf(t, m, "/proc/stat"))
	if !ok {
		t.Fatal("/proc/stat is not understood")
	}
	for what, x := range map[string][2]float64{
		"user":   {float64(c.user) / 1e9, stat.CPUTotal.User + stat.CPUTotal.Nice},
		"system": {float64(c.system) / 1e9, stat.CPUTotal.System + stat.CPUTotal.IRQ + stat.CPUTotal.SoftIRQ},
		"idle":   {float64(c.idle) / 1e9, stat.CPUTotal.Idle},
		"iowait": {float64(c.iowait) / 1e9, stat.CPUTotal.Iowait},
		"steal":  {float64(c.steal) / 1e9, stat.CPUTotal.Steal},
	} {
		if math.Abs(x[0]-x[1]) > 1e-6 {
			t.Errorf("%s: ours %f s, the library's %f s", what, x[0], x[1])
		}
	}
	same(t, "forks", c.forks, stat.ProcessCreated)
	same(t, "running", c.running, stat.ProcessesRunning)

	p, err := fs.Proc(42)
	require.NoError(t, err)
	ps, err := p.Stat()
	require.NoError(t, err)
	our, ok := parseProcess(bytesOf(t, m, "/proc/42/stat"))
	if !ok || int(our.parent) != ps.PPID || uint64(our.born) != ps.Starttime || our.children != int64(ps.CUTime+ps.CSTime)*nsPerTick || string(our.state) != ps.State {
		t.Errorf("stat: ours %+v, the library's %+v", our, ps)
	}
	pio, err := p.IO()
	require.NoError(t, err)
	r, w, ok := parseProcessIO(bytesOf(t, m, "/proc/42/io"))
	if !ok {
		t.Error("io is not understood")
	}
	same(t, "read", r, pio.ReadBytes)
	same(t, "written", w, pio.WriteBytes)
	st, err := p.NewStatus()
	require.NoError(t, err)
	s, ok := parseSwitches(bytesOf(t, m, "/proc/42/status"))
	if !ok {
		t.Error("status is not understood")
	}
	same(t, "switches", s, st.VoluntaryCtxtSwitches+st.NonVoluntaryCtxtSwitches)
	roll, err := p.ProcSMapsRollup()
	require.NoError(t, err)
	pss, uss, ok := parseSmaps(bytesOf(t, m, "/proc/42/smaps_rollup"))
	if !ok {
		t.Error("smaps_rollup is not understood")
	}
	same(t, "PSS", pss, roll.Pss)
	same(t, "USS", uss, roll.PrivateClean+roll.PrivateDirty)
	dev, err := p.NetDev()
	require.NoError(t, err)
	rx, tx, ok := parseNetDev(bytesOf(t, m, "/proc/42/net/dev"))
	if !ok {
		t.Error("net/dev is not understood")
	}
	all := dev.Total()
	same(t, "received", rx, all.RxBytes-dev["lo"].RxBytes)
	same(t, "sent", tx, all.TxBytes-dev["lo"].TxBytes)
	psi, err := fs.PSIStatsForResource("io")
	require.NoError(t, err)
	io, ok := parsePressure(bytesOf(t, m, "/proc/pressure/io"))
	if !ok {
		t.Error("the pressure is not understood")
	}
	same(t, "pressure", io, psi.Some.Total*1000)
}

// The same for containerd/cgroups and control groups.
func TestParsersAgainstCgroups(t *testing.T) {
	m := fixture(t, "v1.txtar")
	root := m.path("/sys/fs/cgroup")
	var stats v1.Metrics
	require.NoError(t, cgroup1.NewMemory(root).Stat("/c1", &stats))
	g, err := m.groupsOf(42, nil)
	require.NoError(t, err)
	got, _ := readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	same(t, "memory", got["payload-memory"], stats.Memory.Usage.Usage)
	same(t, "peak", got["payload-memory-peak"], stats.Memory.Usage.Max)
	same(t, "anonymous", got["payload-anon"], stats.Memory.TotalRSS)
	same(t, "file", got["payload-file"], stats.Memory.TotalCache)
	same(t, "kernel", got["payload-kernel"], stats.Memory.Kernel.Usage)

	m = fixture(t, "v2.txtar")
	group, err := cgroup2.Load("/system.slice/docker-c1.scope", cgroup2.WithMountpoint(m.path("/sys/fs/cgroup")))
	require.NoError(t, err)
	two, err := group.Stat()
	require.NoError(t, err)
	if g, err = m.groupsOf(42, nil); err != nil {
		t.Fatal(err)
	}
	got, _ = readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	same(t, "CPU", got["payload-cpu"], two.CPU.UsageUsec*1000)
	same(t, "throttled", got["payload-throttled"], two.CPU.ThrottledUsec*1000)
	same(t, "memory", got["payload-memory"], two.Memory.Usage)
	same(t, "peak", got["payload-memory-peak"], two.Memory.MaxUsage)
	same(t, "anonymous", got["payload-anon"], two.Memory.Anon)
	same(t, "file", got["payload-file"], two.Memory.File)
	same(t, "tasks", got["payload-tasks"], two.Pids.Current)
	for _, e := range two.Io.Usage {
		if e.Major == 8 {
			same(t, "read", got["payload-block-read"], e.Rbytes)
			same(t, "written", got["payload-block-written"], e.Wbytes)
		}
	}
}

func FuzzParsers(f *testing.F) {
	for _, s := range []string{
		"cpu  1 2 3 4 5 6 7 8 9 0\nctxt 5\nprocesses 6\nprocs_running 7\n", "8:0 Read 5\n8:0 Write 6\nTotal 11\n",
		"8:0 rbytes=1 wbytes=2 rios=3\n", "some avg10=0.00 total=9223372036854775807\n", "Pss: 1 kB\nPrivate_Dirty: 2 kB\n",
		"1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", "h\nh\n lo: 1 2 3 4 5 6 7 8 9\n", "0.1 0.2 0.3 1/2 3\n",
		"4:memory:/a\n0::/b\n", "1 2 0:3 / /x rw - cgroup cgroup rw,cpu\n", "a\x00payload\x00word\x00",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		parseStat(b)
		parseBlockStat(b)
		parseNetDev(b)
		parseBlkio(b, []device{{8, 0}})
		parseIOStat(b, nil)
		if n, ok := parsePressure(b); ok && n < 0 {
			t.Errorf("a pressure of %d", n)
		}
		parseSmaps(b)
		parseProcessIO(b)
		parseSwitches(b)
		parseLastPID(b)
		if p, ok := parseProcess(b); ok && p.parent < 0 {
			t.Errorf("%+v", p)
		}
		out := make([]int64, 8)
		parseMemoryStat2(b, out)
		one(b, out)
		hasWord(b, "word")
		if n, _, ok := number(b); ok && n < 0 {
			t.Errorf("a negative number %d", n)
		}
	})
}
