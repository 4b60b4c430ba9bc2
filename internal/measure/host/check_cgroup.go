//go:build linux

package host

import (
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
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

// balenaEngine, which is made of Docker, gives its containers the same cgroups:
// what holds them has a name of its own, of which the kernel keeps 15 letters.
const (
	docker     = "Docker"
	balena     = "balenaEngine"
	balenaShim = "balena"
)

// containerNames tells a container's cgroup by its path's last two parts.
var containerNames = []struct {
	engine string
	re     *regexp.Regexp
}{
	{docker, regexp.MustCompile(`(/docker-|/docker/)[0-9a-f]{64}(\.scope)?$`)},
	{"Podman", regexp.MustCompile(`/libpod-[0-9a-f]{64}(\.scope)?$`)},
	{"CRI-O", regexp.MustCompile(`/crio-[0-9a-f]{64}(\.scope)?$`)},
	{"containerd", regexp.MustCompile(`/cri-containerd-[0-9a-f]{64}\.scope$`)},
	{"LXC", regexp.MustCompile(`/(lxc\.payload\.[^/]+|lxc/[^/]+)$`)},
	{"systemd-nspawn", regexp.MustCompile(`/machine-[^/]+\.scope$|/systemd-nspawn@[^/]+$`)},
	{"another engine", regexp.MustCompile(`/[0-9a-f]{64}$`)},
}

// containerOf names the engine whose container's cgroup this is.
func containerOf(p string) (engine string, ok bool) {
	for _, c := range containerNames {
		if c.re.MatchString(p) {
			return c.engine, true
		}
	}
	return "", false
}

func checkContainers(r *reading) []record.Remark {
	mount := r.layout.V2
	for _, c := range []string{"pids", "memory", "cpu", "devices", "freezer"} {
		if p := r.layout.V1[c]; p != "" {
			mount = p
			break
		}
	}
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
		engine, ok := containerOf(p)
		if !ok || !c.populated(p) {
			continue
		}
		if engine == docker && strings.HasPrefix(r.holderOf(c, p), balenaShim) {
			engine = balena
		}
		count[engine]++
		total++
	}
	if total == 0 {
		return nil
	}
	var parts []string
	for _, n := range containerNames {
		if count[n.engine] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", count[n.engine], n.engine))
		}
		if n.engine == docker && count[balena] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", count[balena], balena))
		}
	}
	return one(levelWarn, "containers-running",
		fmt.Sprintf("Other containers run on this machine: %s.", strings.Join(parts, ", ")),
		"stop them for the time of the measurement, if they may be stopped")
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
			fmt.Sprintf("Control groups are mixed here: version 1 has %s, version 2 has %s; some engines refuse that.", orNone(v1), orNone(r.facts.More["cgroup_controllers_v2"])),
			"boot with systemd.unified_cgroup_hierarchy=1 to measure version 2")
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "no controller"
	}
	return s
}
