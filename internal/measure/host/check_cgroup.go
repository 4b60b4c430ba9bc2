//go:build linux

package host

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// ownCPUDirs lists the directories of our own cgroup and those above it, in
// the hierarchy that has the cpu controller.
func (r *reading) ownCPUDirs() []string {
	mount, own := r.layout.V1["cpu"], r.self["cpu"]
	if mount == "" {
		mount, own = r.layout.V2, r.self[""]
	}
	if mount == "" || own == "" {
		return nil
	}
	var l []string
	for p := path.Clean(own); ; p = path.Dir(p) {
		l = append(l, path.Join(mount, p))
		if p == "/" {
			return l
		}
	}
}

// throttledPeriods counts the scheduler periods in which our own cgroup, or
// one above it, was throttled; -1 where nothing says so.
func (r *reading) throttledPeriods() int64 {
	sum := int64(-1)
	for _, dir := range r.ownCPUDirs() {
		if b, err := os.ReadFile(r.m.path(path.Join(dir, "cpu.stat"))); err == nil {
			if n, ok := field(b, "nr_throttled "); ok {
				sum = max(sum, 0) + n
			}
		}
	}
	return sum
}

// cpuQuota is the limit of a cgroup in CPUs; false where it has none.
func (r *reading) cpuQuota(dir string) (float64, bool) {
	quota, period, ok := strings.Cut(r.m.text(path.Join(dir, "cpu.max")), " ")
	if !ok {
		quota, period = r.m.text(path.Join(dir, "cpu.cfs_quota_us")), r.m.text(path.Join(dir, "cpu.cfs_period_us"))
	}
	q, err1 := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return q / p, true
}

func checkOwnCgroup(r *reading) []record.Remark {
	if r.before.throttled >= 0 && r.after.throttled > r.before.throttled {
		return one(levelRefuse, "throttled",
			fmt.Sprintf("The control group that Plimsoll runs in was throttled %d times within %d ms.", r.after.throttled-r.before.throttled, r.took.Milliseconds()),
			"run it outside of that control group, or lift its CPU limit")
	}
	for _, dir := range r.ownCPUDirs() {
		if q, ok := r.cpuQuota(dir); ok && r.facts.CPUs > 0 && q < float64(r.facts.CPUs) {
			return one(levelWarn, "cpu-limited",
				fmt.Sprintf("The control group %s, which Plimsoll runs in, may use %.3g of %d CPUs.", dir, q, r.facts.CPUs),
				"run it outside of that control group, or lift its CPU limit")
		}
	}
	return nil
}

// Containers tells an engine's containers, whoever started them, by their control
// groups.
type Containers struct {
	Engine string         // for people
	Path   *regexp.Regexp // of the end of the group's path
	// Holder is the beginning of the name of what holds them, the parent of a
	// container's first process, where another engine has the same paths.
	Holder string
}

// others are the containers of engines that nobody has told of.
var others = Containers{Engine: "another engine", Path: regexp.MustCompile(`/[0-9a-f]{64}$`)}

// containerOf names the engine whose container's cgroup this is; holder is asked
// for what holds it.
func containerOf(known []Containers, p string, holder func() string) (engine string, ok bool) {
	for _, c := range append(slices.Clone(known), others) {
		if !c.Path.MatchString(p) {
			continue
		}
		if c.Holder == "" && engine == "" {
			engine = c.Engine
		}
		if c.Holder != "" && strings.HasPrefix(holder(), c.Holder) {
			return c.Engine, true
		}
	}
	return engine, engine != ""
}

func checkContainers(r *reading) []record.Remark {
	v1 := r.layout.V1
	mount := cmp.Or(v1["pids"], v1["memory"], v1["cpu"], v1["devices"], v1["freezer"], r.layout.V2)
	if mount == "" {
		return nil
	}
	c := &Census{machine: r.m, items: map[Kind]map[string]string{}}
	if err := c.cgroups(context.Background(), mount); err != nil {
		return nil
	}
	count := map[string]int{}
	total := 0
	for p := range c.items[KindCgroup] {
		engine, ok := containerOf(r.exam.containers, p, func() string { return r.holderOf(c, p) })
		if !ok || !c.populated(p) {
			continue
		}
		count[engine]++
		total++
	}
	if total == 0 {
		return nil
	}
	var parts []string
	for _, n := range append(slices.Clone(r.exam.containers), others) {
		if count[n.Engine] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", count[n.Engine], n.Engine))
			delete(count, n.Engine) // it may be known by several marks
		}
	}
	return one(levelWarn, "containers-running",
		fmt.Sprintf("Other containers run on this machine: %s.", strings.Join(parts, ", ")),
		"stop them while you measure, if you can")
}

// holderOf names what holds a container: the parent of its first process,
// outside of its cgroup. It is "" where that is not seen.
func (r *reading) holderOf(c *Census, p string) string {
	inside := map[int]bool{}
	pid := 0
	for q := range c.items[KindCgroup] {
		if !proc.Under(q, p) {
			continue
		}
		for line := range strings.FieldsSeq(c.machine.text(path.Join(q, "cgroup.procs"))) {
			if n, err := strconv.Atoi(line); err == nil && n > 0 {
				inside[n], pid = true, n
			}
		}
	}
	for range inside {
		if pid = r.after.processes[pid].PPID; !inside[pid] {
			break
		}
	}
	return r.after.processes[pid].Comm
}

// populated says whether a process is in the cgroup or below it.
func (c *Census) populated(p string) bool {
	if e := c.machine.text(path.Join(p, "cgroup.events")); e != "" {
		return strings.Contains(e, "populated 1")
	}
	for q := range c.items[KindCgroup] {
		if proc.Under(q, p) && c.machine.text(path.Join(q, "cgroup.procs")) != "" {
			return true
		}
	}
	return false
}

func checkCgroupMode(r *reading) []record.Remark {
	v1 := strings.Join(r.layout.controllersV1(), ", ")
	switch r.facts.Cgroup {
	case "v1":
		return one(levelInfo, "cgroup-v1", "Control groups are version 1 here; results hold for version 1 only, and newer engines may refuse it.", "boot with systemd.unified_cgroup_hierarchy=1 to measure version 2")
	case "hybrid":
		return one(levelInfo, "cgroup-hybrid",
			fmt.Sprintf("Control groups are mixed here: version 1 has %s, version 2 has %s; some engines refuse that.", cmp.Or(v1, "no controller"), cmp.Or(r.facts.More["cgroup_controllers_v2"], "no controller")),
			"boot with systemd.unified_cgroup_hierarchy=1 to measure version 2")
	}
	return nil
}
