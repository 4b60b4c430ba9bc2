package run

import (
	"maps"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

// A container in a group of its engine's below ours sees no limit, and lives
// under ours: that is what is recorded, in the terms of the machine's version.
func TestLimitsOfTheGroupsAbove(t *testing.T) {
	kit, ledger, err := NewKit(record.NewRunID(), t.TempDir(), Options{Getenv: os.Getenv, LookPath: exec.LookPath})
	require.NoError(t, err)
	defer ledger.Close()
	g, err := cgroup.New(kit, "above", engine.Limits{CPUs: 0.5, MemoryBytes: 64 << 20})
	require.NoError(t, err)
	defer func() {
		if err := g.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if len(g.Procs()) == 0 {
		t.Skipf("no limits can be set here: %s", g.Facts()[cgroup.LimitsWhy])
	}
	script := "for f in " + strings.Join(g.Procs(), " ") + "; do echo $$ >$f; done; cat /proc/self/cgroup"
	out, err := exec.Command("sh", "-c", script).Output()
	require.NoError(t, err)
	i, err := newInsider(kit.RunID)
	require.NoError(t, err)
	report := map[string]string{"boot_id": i.boot, "ns.cgroup": i.host["cgroup"]}
	v1 := false
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if strings.Contains(f[2], "-above") { // where its engine has made one more
			f[2] += "/container-qwertzuiopasdfgh"
		}
		if f[1] == "" {
			f[1] = "v2"
		}
		v1 = v1 || f[1] != "v2" && strings.Contains(f[1], "memory")
		report["cgroup."+f[1]] = f[2]
	}
	want, none := map[string]string{"limit.memory.max": "67108864", "limit.cpu.max": "50000 100000"}, map[string]string{"limit.memory.max": "max", "limit.cpu.max": "max 100000"}
	if v1 {
		want = map[string]string{"limit.memory.limit_in_bytes": "67108864", "limit.cpu.cfs_quota_us": "50000", "limit.cpu.cfs_period_us": "100000"}
		none = map[string]string{"limit.memory.limit_in_bytes": strconv.Itoa(9223372036854771712), "limit.cpu.cfs_quota_us": "-1", "limit.cpu.cfs_period_us": "100000"}
	}
	maps.Copy(report, none)
	in := i.read("e", i.inForce(report))
	for key, value := range want {
		if in.More[key] != value || !strings.HasPrefix(in.More[key+".at"], "host:/") || strings.Contains(in.More[key+".at"], kit.RunID) {
			t.Errorf("%s is %q at %q, want %q", key, in.More[key], in.More[key+".at"], value)
		}
	}
	// Limits of its own that are tighter stay, and so does what another kernel
	// or another view of the groups says.
	for _, c := range []map[string]string{
		{"limit.memory.max": "1000", "limit.memory.limit_in_bytes": "1000", "limit.cpu.max": "1 100", "limit.cpu.cfs_quota_us": "1000"},
		{"boot_id": "another"}, {"ns.cgroup": "1"},
	} {
		other := maps.Clone(report)
		maps.Copy(other, c)
		if got := i.inForce(other); !maps.Equal(got, other) {
			t.Errorf("%v: %v", c, got)
		}
	}
}
