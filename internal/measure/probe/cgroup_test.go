package probe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// cgroup makes a control group of ours, in v2 or else in v1's pids hierarchy,
// and gives its cgroup.procs and what /proc/self/cgroup says inside of it.
func cgroup(t *testing.T, name string) (procs, key, path string) {
	t.Helper()
	needRoot(t)
	own, err := os.ReadFile("/proc/self/cgroup")
	require.NoError(t, err)
	for _, try := range []struct{ mount, line, key string }{
		{"/sys/fs/cgroup/pids", ":pids:", "cgroup.pids"},
		{"/sys/fs/cgroup/unified", "0::", "cgroup.v2"},
		{"/sys/fs/cgroup", "0::", "cgroup.v2"},
	} {
		if _, err := os.Stat(try.mount + "/cgroup.procs"); err != nil || !strings.Contains(string(own), try.line) {
			continue
		}
		dir := filepath.Join(try.mount, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Logf("%v", err)
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Errorf("the control group was left behind: %v", err)
			}
		})
		return dir + "/cgroup.procs", try.key, "/" + name
	}
	t.Skip("no control group can be made here")
	return "", "", ""
}

func TestCgroupOfACommand(t *testing.T) {
	procs, key, path := cgroup(t, "plimsoll-probe-test-command")
	l, probe := startLauncher(t, Options{})
	job := Job{Commands: []Command{
		{Argv: PayloadArgs{Word: "w", Report: true}.Argv(probe), Cgroups: []string{procs}},
		{Argv: PayloadArgs{Word: "w", Report: true}.Argv(probe)},
	}}
	for i, inside := range []bool{true, false} {
		res := run(t, l, job).Commands[i]
		p, err := ParsePayload(res.Stdout, "w")
		if err != nil {
			t.Fatalf("%v: %+v", err, res)
		}
		if got := strings.HasSuffix(p.Report[key], path); got != inside {
			t.Errorf("command %d: %s is %q", i, key, p.Report[key])
		}
	}
}

func TestCgroupOfALauncher(t *testing.T) {
	procs, key, path := cgroup(t, "plimsoll-probe-test-launcher")
	if key == "cgroup.pids" {
		require.NoError(t, os.WriteFile(filepath.Dir(procs)+"/pids.max", []byte("77"), 0o644))
	}
	l, probe := startLauncher(t, Options{Cgroups: []string{procs}})
	res := run(t, l, Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Report: true}.Argv(probe)}}}).Commands[0]
	p, err := ParsePayload(res.Stdout, "w")
	require.NoError(t, err)
	if !strings.HasSuffix(p.Report[key], path) {
		t.Errorf("%s is %q, want %q", key, p.Report[key], path)
	}
	if key == "cgroup.pids" && p.Report["limit.pids.max"] != "77" {
		t.Errorf("limit.pids.max is %q", p.Report["limit.pids.max"])
	}
}

// A group with a CPU limit says for how long it was held back; one without says
// nothing.
func TestThrottledOfAGroup(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	needRoot(t)
	quota, value, stat := "cpu.cfs_quota_us", "1000", "throttled_time"
	dir := "/sys/fs/cgroup/cpu/plimsoll-probe-test-throttled"
	if _, err := os.Stat("/sys/fs/cgroup/cpu/" + quota); err != nil {
		quota, value, stat = "cpu.max", "1000 100000", "throttled_usec"
		dir = "/sys/fs/cgroup/plimsoll-probe-test-throttled"
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skip("no control group can be made here: ", err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("the control group was left behind: %v", err)
		}
	})
	if _, err := os.Stat(filepath.Join(dir, quota)); err != nil {
		t.Skip("its processes can't be limited: ", err)
	}
	l, probe := startLauncher(t, Options{})
	report := func(args PayloadArgs) map[string]string {
		t.Helper()
		args.Word, args.Report = "w", true
		res := run(t, l, Job{Commands: []Command{{Argv: args.Argv(probe), Cgroups: []string{dir + "/cgroup.procs"}}}}).Commands[0]
		p, err := ParsePayload(res.Stdout, "w")
		require.NoError(t, err)
		return p.Report
	}
	if got, ok := report(PayloadArgs{})[stat]; ok {
		t.Errorf("%s is %q without a limit", stat, got)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, quota), []byte(value), 0o644))
	report(PayloadArgs{TouchBytes: 64 << 20}) // more work than a hundredth of a CPU does in a period
	if got, err := strconv.ParseInt(report(PayloadArgs{})[stat], 10, 64); err != nil || got <= 0 {
		t.Errorf("%s is %d after work beyond the limit, %v", stat, got, err)
	}
}
