package cgroup

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

type ledger map[engine.Thing]bool

func (l ledger) Made(t engine.Thing) error { l[t] = true; return nil }
func (l ledger) Gone(t engine.Thing) error { delete(l, t); return nil }
func (l ledger) Left() []engine.Thing      { return slices.Collect(maps.Keys(l)) }

// named are the groups at the top that bear a run's id.
func named(t *testing.T, runID string) []engine.Thing {
	t.Helper()
	found, err := Bearing(runID)
	require.NoError(t, err)
	return found
}

var both = engine.Limits{CPUs: 0.5, MemoryBytes: 64 << 20}

// The whole way on the machine's own hierarchies: a process in the group is
// under the limits, and nothing is left.
func TestRealGroup(t *testing.T) {
	l := ledger{}
	kit := &engine.Kit{RunID: "wraptest", Ledger: l}
	c, err := New(kit, "Env/one", both)
	require.NoError(t, err)
	if c.Facts()[Limits] == Nobody {
		t.Skipf("no limits can be set here: %s", c.Facts()[LimitsWhy])
	}
	if len(l) == 0 {
		t.Error("the ledger was not told")
	}
	if len(named(t, "wraptest")) != len(l) {
		t.Errorf("there are %v, in the ledger %v", named(t, "wraptest"), l)
	}
	sleep := exec.Command("sleep", "60")
	require.NoError(t, sleep.Start())
	for _, f := range c.Procs() {
		require.NoError(t, os.WriteFile(f, []byte(strconv.Itoa(sleep.Process.Pid)), 0))
	}
	if got := InForce(sleep.Process.Pid); got != both {
		t.Errorf("in force are %+v, want %+v", got, both)
	}
	if _, ok := c.Throttled(); !ok {
		t.Error("the throttled time can't be read")
	}
	if n, ok := c.oomKills(); !ok || n != 0 {
		t.Errorf("OOM kills: %d, %v", n, ok)
	}
	if c.OOMWatch()() {
		t.Error("an OOM kill was seen where none was")
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
	if err := c.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Remove(t.Context()); err != nil {
		t.Error("for the second time:", err)
	}
	if len(l) != 0 || len(named(t, "wraptest")) != 0 {
		t.Errorf("left: %v, %v", l, named(t, "wraptest"))
	}
}

// A group of somebody else's that has just the name stays as it is; a second
// environment of the run with the name gets one of its own.
func TestNameTaken(t *testing.T) {
	l := ledger{}
	kit := &engine.Kit{RunID: "wraptake", Ledger: l}
	first, err := New(kit, "x", both)
	require.NoError(t, err)
	if len(first.dirs) == 0 {
		t.Skipf("no cgroup can be made here: %s", first.why)
	}
	second, err := New(kit, "x", engine.Limits{MemoryBytes: 32 << 20})
	require.NoError(t, err)
	for i := range first.dirs {
		if first.dirs[i].path == second.dirs[i].path {
			t.Errorf("both have the group %s", first.dirs[i].path)
		}
	}
	for _, c := range []*Cgroup{first, second} {
		if err := c.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}

	dir := filepath.Join(topOf(t), first.name)
	require.NoError(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("the group that was to stay: %v", err)
		}
	})
	if c, err := New(kit, "x", both); err == nil {
		t.Errorf("a group that was there was taken over: %v", c.Procs())
		if err := c.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if len(l) != 0 {
		t.Errorf("the ledger names what is not ours: %v", l)
	}
	if err := Vacant(first.name); err == nil {
		t.Error("a container would get that group too")
	}
	if err := RemoveNamed(t.Context(), l, first.name); err == nil {
		t.Error("it was removed, though no ledger names it")
	}
}

// topOf is where groups with a memory limit lie.
func topOf(t *testing.T) string {
	t.Helper()
	parents, why := findParents(proc.Here)
	if why != "" {
		t.Skip(why)
	}
	return parents[0].path
}

func TestThrottledTimeGrows(t *testing.T) {
	kit := &engine.Kit{RunID: "wrapthro", Ledger: ledger{}}
	c, err := New(kit, "x", engine.Limits{CPUs: 0.05})
	require.NoError(t, err)
	defer func() {
		if err := c.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if len(c.Procs()) == 0 {
		t.Skipf("no limits can be set here: %s", c.Facts()[LimitsWhy])
	}
	// A shell that joins, then counts: some 20 ms of work at a twentieth of a CPU.
	script := "for f in " + strings.Join(c.Procs(), " ") + "; do echo $$ > $f; done; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"
	if out, err := exec.Command("sh", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if d, ok := c.Throttled(); !ok || d == 0 {
		t.Errorf("throttled for %v, %v; want more than nothing", d, ok)
	}
}

func TestNoLimitsAskedFor(t *testing.T) {
	c, err := New(&engine.Kit{RunID: "x", Ledger: ledger{}}, "e", engine.Limits{})
	if err != nil || c.Procs() != nil || c.Facts()[Limits] != Nobody || c.Facts()[LimitsWhy] == "" {
		t.Errorf("%v, %v, %v", err, c.Procs(), c.Facts())
	}
	var none *Cgroup
	if none.Procs() != nil || none.Remove(t.Context()) != nil || none.OOMWatch()() || none.TellsOOM() {
		t.Error("a nil group does something")
	}
}

// layout makes a pretended /proc with hierarchies in a directory.
func layout(t *testing.T, line ...string) (d proc.Dir, dir string) {
	t.Helper()
	dir = t.TempDir()
	var b strings.Builder
	for i, l := range line {
		b.WriteString("2" + strconv.Itoa(i) + " 1 0:1 " + strings.ReplaceAll(l, "DIR", dir) + "\n")
	}
	write(t, filepath.Join(dir, "self/mountinfo"), b.String())
	return proc.Dir(dir), dir
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestParents(t *testing.T) {
	v1 := []string{"/ DIR/cpu rw - cgroup cgroup rw,cpu,cpuacct", "/ DIR/mem rw - cgroup cgroup rw,memory",
		"/ DIR/unified rw - cgroup2 cgroup2 rw"}
	d, dir := layout(t, v1...)
	write(t, dir+"/cpu/x", "")
	write(t, dir+"/mem/x", "")
	ps, why := findParents(d)
	if why != "" || len(ps) != 2 || ps[0] != (parent{dir + "/cpu", cpuV1}) || ps[1] != (parent{dir + "/mem", memoryV1}) {
		t.Errorf("v1 and hybrid: %v, %q", ps, why)
	}

	d, dir = layout(t, "/ DIR/cg rw - cgroup cgroup rw,cpu,memory")
	write(t, dir+"/cg/x", "")
	if ps, why = findParents(d); why != "" || len(ps) != 1 || ps[0].kind != bothV1 {
		t.Errorf("cpu and memory together: %v, %q", ps, why)
	}

	d, dir = layout(t, "/ DIR/cg rw - cgroup2 cgroup2 rw")
	write(t, dir+"/cg/cgroup.procs", "")
	write(t, dir+"/cg/cgroup.subtree_control", "cpuset cpu memory pids\n")
	if ps, why = findParents(d); why != "" || len(ps) != 1 || ps[0] != (parent{dir + "/cg", unified}) {
		t.Errorf("v2 at the root: %v, %q", ps, why)
	}

	// The root can't be used (no cgroup.procs, as where it is not ours); our
	// ancestor hands controllers down.
	d, dir = layout(t, "/ DIR/cg rw - cgroup2 cgroup2 rw")
	write(t, dir+"/cg/user/a/cgroup.procs", "")
	write(t, dir+"/cg/user/a/cgroup.subtree_control", "cpu memory\n")
	write(t, dir+"/self/cgroup", "0::/user/a/b\n")
	if ps, why = findParents(d); why != "" || len(ps) != 1 || ps[0].path != dir+"/cg/user/a" {
		t.Errorf("v2 below: %v, %q", ps, why)
	}

	d, _ = layout(t, "/ /tmp rw - tmpfs tmpfs rw")
	if ps, why = findParents(d); why == "" || ps != nil {
		t.Errorf("no hierarchy: %v, %q", ps, why)
	}
}

// The kernel's "no such file or directory" for a controller that the tree lacks does not
// help anybody; the message names the cause and what to do.
func TestMissingController(t *testing.T) {
	for lines, want := range map[string]string{
		"cpu\t1\t3\t1\nmemory\t4\t89\t1\n": "the memory controller is bound to version 1",
		"cpu\t0\t3\t1\nmemory\t0\t1\t0\n":  "the memory controller is disabled in this kernel",
		"cpu\t0\t3\t1\nmemory\t0\t1\t1\n":  "has no memory controller",
		"":                                 "has no memory controller",
	} {
		d := proc.Dir(t.TempDir())
		write(t, string(d)+"/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\n"+lines)
		if why := missing(d, "/sys/fs/cgroup", "memory"); !strings.Contains(why, want) {
			t.Errorf("%q: %s, want %s", lines, why, want)
		}
	}
}

// The machine's own tree of version 2, where it has the memory controller in version 1.
func TestBoundToVersion1(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("handing a controller down needs root")
	}
	if c, err := proc.Here.Controller("memory"); err != nil || !c.V1 {
		t.Skip("the memory controller is not bound to version 1 here")
	}
	hierarchies, err := proc.Here.Hierarchies()
	require.NoError(t, err)
	i := slices.IndexFunc(hierarchies, func(h proc.Hierarchy) bool { return h.Unified })
	if i < 0 {
		t.Skip("no cgroup2 tree is mounted here")
	}
	if why, occupied := handsDown(proc.Here, hierarchies[i].Mount); occupied || !strings.HasPrefix(why, "the memory controller is bound to version 1") {
		t.Errorf("%q, %v", why, occupied)
	}
}
