//go:build linux

package collect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// fixture lays a stored machine's files out below a directory.
func fixture(t *testing.T, name string) *machine {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	root := t.TempDir()
	for _, f := range a.Files {
		p := filepath.Join(root, f.Name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, f.Data, 0o644))
	}
	m, err := newMachine(root, engines)
	require.NoError(t, err)
	return m
}

// readAll opens every reader of a part on a target and reads it.
func readAll(t *testing.T, p Part, tg *target) (values map[string]int64, why map[string]error) {
	t.Helper()
	panel := newPanel(p)
	panel.open(tg)
	defer panel.close()
	panel.sample(1, &beat{interval: 1}, all, make([]byte, scratchSize))
	values, why = map[string]int64{}, map[string]error{}
	for i, c := range panel.columns {
		if panel.row[i] != record.NoSample {
			values[c.ID] = panel.row[i]
		}
	}
	for _, g := range panel.gauges {
		if g.err != nil {
			why[g.r.name] = g.err
		}
		if g.failed != nil {
			t.Errorf("%s failed: %v", g.r.name, g.failed)
		}
	}
	return values, why
}

func want(t *testing.T, got map[string]int64, want map[string]int64) {
	t.Helper()
	for id, n := range want {
		if v, ok := got[id]; !ok || v != n {
			t.Errorf("%s is %d (%v), not %d", id, v, ok, n)
		}
	}
}

func TestVersion1(t *testing.T) {
	m := fixture(t, "v1.txtar")
	g, err := m.groupsOf(42, nil)
	require.NoError(t, err)
	if g.v2 {
		t.Error("a hybrid machine's controllers are those of version 1")
	}
	got, why := readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	want(t, got, map[string]int64{
		"payload-throttled": 1234567890, "payload-block-read": 1048576, "payload-block-written": 4096, // loop0 is not counted
		"payload-cpu-pressure": 1500e3, "payload-memory-pressure": 20e3, "payload-io-pressure": 7e3, "payload-tasks": 3,
	})
	for _, id := range []string{"payload-cpu", "payload-memory", "payload-memory-peak", "payload-anon", "payload-file", "payload-kernel"} {
		if got[id] <= 0 {
			t.Errorf("%s is %d", id, got[id])
		}
	}
	if why["group-cpu"] != nil || !errors.Is(why["process-cpu"], errNotNeeded) {
		t.Errorf("a stand-in is read beside its principal: %v", why)
	}

	// Roots, what lies outside of what is mounted here, and what is shared.
	g, err = m.groupsOf(43, []int{42})
	require.NoError(t, err)
	if len(g.own) != 0 {
		t.Errorf("process 43 has groups of its own: %v", g.own)
	}
	got, why = readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	if why["process-cpu"] != nil || !errors.Is(why["group-cpu"], errAbsent) || got["payload-memory"] != 0 {
		t.Errorf("without groups: %v, %v", got, why)
	}
	if _, err := m.groupsOf(99, nil); !isGone(err) {
		t.Errorf("a process that is not there: %v", err)
	}
}

func TestVersion2(t *testing.T) {
	m := fixture(t, "v2.txtar")
	g, err := m.groupsOf(42, []int{43})
	require.NoError(t, err)
	if !g.v2 {
		t.Error("it is not seen to be version 2")
	}
	got, why := readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	want(t, got, map[string]int64{
		"payload-cpu": 5123456e3, "payload-throttled": 2500e6, "payload-memory": 71303168, "payload-memory-peak": 80000000,
		"payload-anon": 67108864, "payload-file": 3145728, "payload-kernel": 1048576,
		"payload-block-read": 2097152, "payload-block-written": 8192, "payload-tasks": 5,
		"payload-cpu-pressure": 1500e3, "payload-memory-pressure": 20e3, "payload-io-pressure": 7e3,
	})
	if pids := members(g.anyDir(), 10); !slices.Equal(pids, []int{42, 77, 78}) {
		t.Errorf("its members are %v (%v)", pids, why)
	}

	g, err = m.groupsOf(44, nil)
	require.NoError(t, err)
	got, why = readAll(t, Payload, &target{m: m, group: g, procs: &processes{m: m}})
	want(t, got, map[string]int64{"payload-cpu": 10e3, "payload-kernel": 16384 + 4096 + 512 + 3, "payload-block-read": 0})
	for _, name := range []string{"group-throttle", "group-memory-peak", "group-pressure", "group-processes"} {
		if !errors.Is(why[name], errAbsent) {
			t.Errorf("%s: %v", name, why[name])
		}
	}
}

func TestHost(t *testing.T) {
	m := fixture(t, "v1.txtar")
	got, why := readAll(t, Host, &target{m: m})
	want(t, got, map[string]int64{"host-received": 123456, "host-sent": 654321, "host-energy-package": 0, "host-energy-memory": 0})
	for _, id := range []string{"host-user", "host-system", "host-idle", "host-switches", "host-forks", "host-running",
		"host-available", "host-free", "host-cached", "host-slab", "host-block-read", "host-block-written", "host-cpu-pressure"} {
		if got[id] <= 0 {
			t.Errorf("%s is %d", id, got[id])
		}
	}
	if len(why) > 0 {
		t.Errorf("not read: %v", why)
	}

	m = fixture(t, "v2.txtar")
	_, why = readAll(t, Host, &target{m: m})
	for _, name := range []string{"energy", "host-network"} {
		if !errors.Is(why[name], errAbsent) {
			t.Errorf("%s: %v", name, why[name])
		}
	}
}

// The energy's counters wrap around at their own tops, and cores are parts of
// packages.
func TestEnergy(t *testing.T) {
	m := fixture(t, "v1.txtar")
	in, err := openEnergy(&target{m: m})
	require.NoError(t, err)
	defer in.close()
	buf, out := make([]byte, 64), make([]int64, 2)
	set := func(zone, n string) {
		t.Helper()
		require.NoError(t, os.WriteFile(m.path("/sys/class/powercap/"+zone+"/energy_uj"), []byte(n+"\n"), 0o644))
	}
	for _, step := range []struct {
		zone, n          string
		packages, memory int64
	}{
		{"intel-rapl:0", "262143300000", 300_000, 0},
		{"intel-rapl:0", "1000", 300_000 + 28_851 + 1000, 0}, // around
		{"intel-rapl:1", "100", 300_000 + 28_851 + 1000 + 23, 0},
		{"intel-rapl:0:1", "1500", 300_000 + 28_851 + 1000 + 23, 500},
		{"intel-rapl:0:0", "99999", 300_000 + 28_851 + 1000 + 23, 500},
	} {
		set(step.zone, step.n)
		require.NoError(t, in.read(out, buf))
		if out[0] != step.packages || out[1] != step.memory {
			t.Errorf("after %s = %s: %v µJ, not %d and %d", step.zone, step.n, out, step.packages, step.memory)
		}
	}
	require.NoError(t, os.WriteFile(m.path("/sys/class/powercap/intel-rapl:1/energy_uj"), []byte("?\n"), 0o644))
	if err := in.read(out, buf); err == nil || errors.Is(err, errAbsent) {
		t.Errorf("damage is not absence: %v", err)
	}
}

// One reader that fails stops no other.
func TestFailureStopsNoOther(t *testing.T) {
	m := fixture(t, "v1.txtar")
	require.NoError(t, os.WriteFile(m.path("/proc/meminfo"), []byte("rubbish\n"), 0o644))
	p := newPanel(Host)
	p.open(&target{m: m})
	defer p.close()
	p.sample(1, &beat{interval: 1}, all, make([]byte, scratchSize))
	var tail record.SeriesTail
	p.tell(&tail, nil)
	if tail.Failed["host-memory"] == "" || len(tail.Failed) != 1 || len(tail.Readers) != len(p.gauges) {
		t.Errorf("%+v", tail)
	}
	if p.row[0] == record.NoSample {
		t.Error("the processors were not read")
	}
}

// Every column is somebody's once, but for a stand-in's, and every metric is
// made of columns that there are.
func TestLists(t *testing.T) {
	seen := map[string]string{}
	names := map[string]bool{}
	for _, r := range readers {
		if names[r.name] {
			t.Errorf("two readers are called %s", r.name)
		}
		names[r.name] = true
		for _, c := range r.columns {
			if old := seen[c.ID]; old != "" && old != r.instead {
				t.Errorf("%s is read by %s and %s", c.ID, old, r.name)
			}
			seen[c.ID] = r.name
			if c.What == "" || c.Unit == "" || Part(c.Part) != r.part {
				t.Errorf("column %+v of %s", c, r.name)
			}
		}
	}
	ids := map[string]bool{}
	for _, s := range summaries {
		if ids[s.metric.ID] {
			t.Errorf("two metrics are called %s", s.metric.ID)
		}
		ids[s.metric.ID] = true
		for _, c := range s.columns {
			if seen[c] == "" {
				t.Errorf("metric %s is made of %s, which nobody reads", s.metric.ID, c)
			}
		}
	}
}
