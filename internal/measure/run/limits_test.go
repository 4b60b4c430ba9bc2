package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
	ramps "plimsoll/internal/understand/analyze/density"
)

func of(class, name string, used, most int64) bound {
	return bound{class: class, name: name, used: used, max: most}
}

func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

const meminfoText = "MemTotal: 1000000 kB\nMemFree: 1 kB\nMemAvailable: 700000 kB\nShmem: 8 kB\nSUnreclaim: 100 kB\n" +
	"KernelStack: 16 kB\nPageTables: 32 kB\nVmallocUsed: 64 kB\nPercpu: 4 kB\n"

// Each limit is read from where the kernel has it.
func TestLimitsAreRead(t *testing.T) {
	root := files(t, map[string]string{
		"proc/meminfo": meminfoText, "proc/loadavg": "0.1 0.2 0.3 2/531 77\n",
		"proc/sys/kernel/threads-max": "1000\n", "proc/sys/kernel/pid_max": "32768\n", "proc/sys/fs/file-nr": "2000\t0\t9000\n",
		"proc/sys/kernel/pty/nr": "3\n", "proc/sys/kernel/pty/max": "4096\n",
		"proc/sys/net/netfilter/nf_conntrack_count": "5\n", "proc/sys/net/netfilter/nf_conntrack_max": "262144\n",
		"proc/key-users":        "    0:     9 8/8 3/200 40/20000\n 1000:     1 1/1 1/200 9/20000\ngarbage\n",
		"proc/sys/fs/mount-max": "100000\n",
		"proc/77/limits":        "Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 4096                 files\nMax processes             unlimited            unlimited            processes\n",
		"proc/77/comm":          "dockerd\n", "proc/77/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:5 / /x rw - tmpfs none rw\n", "proc/77/fd/0": "", "proc/77/fd/1": "", "proc/77/fd/2": "",
		"proc/77/cgroup": "8:pids:/docker/abc\n4:memory:/\n0::/new\n",
		"sys/fs/cgroup/pids/docker/abc/pids.current": "7\n", "sys/fs/cgroup/pids/docker/abc/pids.max": "max\n",
		"sys/fs/cgroup/pids/docker/pids.current": "40\n", "sys/fs/cgroup/pids/docker/pids.max": "64\n",
		"sys/fs/cgroup/memory/memory.usage_in_bytes": "1000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "4000\n",
		"sys/fs/cgroup/memory/memory.stat": "cache 900\ntotal_inactive_file 600\n",
		"sys/fs/cgroup/new/pids.current":   "1\n", "sys/fs/cgroup/new/pids.max": "9\n",
		"sys/class/net/docker0/brif/veth1": "", "sys/class/net/docker0/brif/veth2": "",
	})
	got := map[string]bound{}
	for _, b := range (limitsReader{proc: root + "/proc", sys: root + "/sys"}).read([]int{77, 77}, 0) {
		if b.class != record.LimitDisk && b.class != record.LimitLoop {
			got[strings.ReplaceAll(b.name, root, "")] = b
		}
	}
	want := map[string][3]any{
		"kernel.threads-max (threads of the machine)":               {record.LimitProcesses, 531, 1000},
		"kernel.pid_max (threads of the machine)":                   {record.LimitProcesses, 531, 32768},
		"fs.file-max (open files of the machine)":                   {record.LimitFiles, 2000, 9000},
		"the machine's memory":                                      {record.LimitMemory, 300000 << 10, 1000000 << 10},
		"kernel.pty.max (terminals)":                                {record.LimitPTY, 3, 4096},
		"net.netfilter.nf_conntrack_max (tracked connections)":      {record.LimitConntrack, 5, 262144},
		"ports of the bridge docker0":                               {record.LimitBridge, 2, 1023},
		"kernel.keys (keys of user 0)":                              {record.LimitKeys, 3, 200},
		"kernel.keys (bytes of keys of user 0)":                     {record.LimitKeys, 40, 20000},
		"kernel.keys (keys of user 1000)":                           {record.LimitKeys, 1, 200},
		"kernel.keys (bytes of keys of user 1000)":                  {record.LimitKeys, 9, 20000},
		"RLIMIT_NOFILE of dockerd (77)":                             {record.LimitFiles, 3, 1024},
		"fs.mount-max (mounts of dockerd (77))":                     {record.LimitMounts, 2, 100000},
		"pids.max of the cgroup /sys/fs/cgroup/pids/docker":         {record.LimitProcesses, 40, 64},
		"memory.limit_in_bytes of the cgroup /sys/fs/cgroup/memory": {record.LimitMemory, 400, 4000},
		"pids.max of the cgroup /sys/fs/cgroup/new":                 {record.LimitProcesses, 1, 9},
	}
	for name, w := range want {
		b, ok := got[name]
		if !ok || b.class != w[0] || b.used != int64(w[1].(int)) || b.max != int64(w[2].(int)) {
			t.Errorf("%s: %+v (%v), want %v", name, b, ok, w)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s was read and not expected", name)
	}
	info, err := readMeminfo(proc.Dir(root + "/proc"))
	if err != nil || info.kernel != (100+64+32+4)<<10 {
		t.Errorf("%+v %v", info, err)
	}
}

// An exhausted limit is told from one that is merely well used, and the
// engine's words decide between two.
func TestLimitIsNamed(t *testing.T) {
	pids := of(record.LimitProcesses, "pids.max", 95, 100)
	ports := of(record.LimitBridge, "ports", 1023, 1023)
	disk := of(record.LimitDisk, "disk", 985, 1000)
	for _, c := range []struct {
		name        string
		before, now usage
		said, want  string
	}{
		{"ten processes each", usage{"p": of(record.LimitProcesses, "pids.max", 5, 100)}, usage{"p": pids}, "exit status 1", record.LimitProcesses},
		{"one each: room is left", usage{"p": of(record.LimitProcesses, "pids.max", 87, 100)}, usage{"p": pids}, "exit status 1", record.LimitEngine},
		{"full before, and does not grow", usage{"p": of(record.LimitProcesses, "pids.max", 99, 100)}, usage{"p": of(record.LimitProcesses, "pids.max", 99, 100)}, "no", record.LimitEngine},
		{"two are exhausted: the message decides", usage{}, usage{"p": of(record.LimitProcesses, "p", 100, 100), "b": ports}, "fork/exec: resource temporarily unavailable", record.LimitProcesses},
		{"two are exhausted: and the other way", usage{}, usage{"p": of(record.LimitProcesses, "p", 100, 100), "b": ports}, "exchange full", record.LimitBridge},
		{"the message alone", usage{}, usage{}, "Too many open files", record.LimitFiles},
		{"given back already, and the message says it", usage{}, usage{"f": of(record.LimitFiles, "RLIMIT_NOFILE", 80, 100)}, "Too many open files", record.LimitFiles},
		{"keys", usage{}, usage{}, "unable to join session keyring: create session key: disk quota exceeded", record.LimitKeys},
		{"nobody knows", usage{}, usage{"d": disk}, "it did not work", record.LimitEngine},
		{"no limit", usage{}, usage{"d": disk}, "", ""},
	} {
		got := nameLimit(exhaustedOf(c.before, c.now, 9), c.now, c.said)
		class := ""
		if got != nil {
			class = got.Class
			if !strings.Contains(got.Text, c.said) {
				t.Errorf("%s: the engine's words are not in %q", c.name, got.Text)
			}
		}
		if class != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
}

func TestGuard(t *testing.T) {
	gib := int64(1 << 30)
	for _, c := range []struct {
		total, available, next int64
		machine                []bound
		want                   string
	}{
		{24 * gib, 12 * gib, 0, nil, ""},
		{24 * gib, 2 * gib, 0, nil, record.LimitMemory},   // below a tenth
		{2 * gib, gib / 3, 0, nil, record.LimitMemory},    // below 512 MiB
		{24 * gib, 3 * gib, gib, nil, record.LimitMemory}, // the next one would be too much
		{24 * gib, 12 * gib, 0, []bound{of(record.LimitProcesses, "pid_max", 900, 1000)}, record.LimitProcesses},
		{24 * gib, 12 * gib, 0, []bound{of(record.LimitProcesses, "pid_max", 890, 1000)}, ""},
	} {
		l := guardOf(meminfo{Total: c.total, Available: c.available}, c.next, c.machine)
		if l == nil != (c.want == "") || l != nil && (l.Class != c.want || !l.Guard) {
			t.Errorf("%+v: %+v", c, l)
		}
	}
}

// The real thing: a ramp of native containers that we hold ends at what we
// ourselves may have, says at which, and leaves nothing.
func TestRealLimitsAreNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	const most = 100
	switch os.Getenv("PLIMSOLL_TEST_RAMP") {
	case "":
	case "pids":
		rampAgainst(t, record.LimitProcesses, true, "pids.max of the cgroup")
		return
	case "files":
		rampAgainst(t, record.LimitFiles, false, "RLIMIT_NOFILE of ")
		return
	}
	t.Run("pids", func(t *testing.T) {
		group := pidsGroup(t)
		if err := os.WriteFile(filepath.Join(group, "pids.max"), []byte(strconv.Itoa(most)), 0o644); err != nil {
			t.Skip("this machine's cgroups have no pids.max to set: ", err)
		}
		again(t, "pids", `echo $$ > "$1/cgroup.procs" && shift && exec "$@"`, group)
	})
	t.Run("files", func(t *testing.T) {
		again(t, "files", `ulimit -n "$1" && shift && exec "$@"`, strconv.Itoa(most))
	})
}

// again runs the test once more behind a shell that sets a limit for it.
func again(t *testing.T, which, script, arg string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script, "sh", arg, os.Args[0], "-test.run=^TestRealLimitsAreNamed$", "-test.v")
	cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_RAMP="+which)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestRealLimitsAreNamed") {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

func rampAgainst(t *testing.T, class string, guard bool, text string) {
	o := protocolOf(t, "  - {name: density, parameters: {count: \"100\", mode: background, rest: 0s}}\n", "  - native\n", baseline.Native{})
	for _, tr := range carried(t, o) {
		if !tr.OK() {
			t.Fatalf("%+v", tr.Failure)
		}
		d := ramps.ReadRamp(series[record.DensityStep](t, o.Dir, tr))
		if d.Limit == nil || d.Limit.Class != class || d.Limit.Guard != guard || !strings.Contains(d.Limit.Text, text) {
			t.Errorf("limit %+v", d.Limit)
		}
		if d.Reached < 5 || d.Reached >= 100 {
			t.Errorf("%d ran", d.Reached)
		}
		t.Logf("%d ran; %+v", d.Reached, d.Limit)
	}
}

// pidsGroup makes a cgroup of our own for processes.
func pidsGroup(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("making a cgroup needs root")
	}
	for _, root := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
			continue
		}
		group := filepath.Join(root, "plimsoll-test-"+record.NewRunID())
		if err := os.Mkdir(group, 0o755); err != nil {
			t.Skip("no cgroup can be made: ", err)
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Errorf("the test's cgroup stays: %v", err)
			}
		})
		return group
	}
	t.Skip("this machine has no cgroups")
	return ""
}
