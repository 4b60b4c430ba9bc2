package tune

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// made is a machine of files.
func made(t *testing.T, files map[string]string) Machine {
	t.Helper()
	m := Machine{t.TempDir()}
	for path, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(m.path(path)), 0o755))
		require.NoError(t, os.WriteFile(m.path(path), []byte(text), 0o644))
	}
	return m
}

func state(t *testing.T, m Machine, name string) State {
	t.Helper()
	all := m.Look()
	i := slices.IndexFunc(all, func(s State) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no state %s", name)
	}
	return all[i]
}

func TestLook(t *testing.T) {
	m := made(t, map[string]string{
		"/sys/kernel/rcu_expedited": "0\n", "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n", "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance\n",
		"/sys/devices/system/cpu/cpufreq/boost": "1\n", "/proc/sys/vm/stat_interval": "120\n", "/proc/sys/vm/swappiness": "60\n",
		"/proc/swaps":          "Filename Type Size Used Priority\n",
		"/proc/self/mountinfo": "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,favordynmods\n",
		"/sys/devices/system/cpu/cpuidle/current_driver": "intel_idle\n", "/dev/cpu_dma_latency": "",
		"/sys/devices/system/cpu/online": "0-1\n", "/proc/irq/4/smp_affinity_list": "0-1\n", "/proc/irq/5/smp_affinity_list": "0\n",
	})
	for _, c := range []struct {
		name, now, want, why string
		files                int
		already              bool
	}{
		{name: "rcu-expedited", now: "0", want: "1", files: 1},
		{name: "huge-pages", now: "madvise", want: "never", files: 1},
		{name: "governor", now: "powersave", want: "performance", files: 1},
		{name: "turbo", now: "1", want: "0", files: 1},
		{name: "statistics", now: "120", already: true, why: "already"},
		{name: "favordynmods", now: "yes", already: true, why: "already"},
		{name: "swap", why: "no swap"},
		{name: "idle-states", want: "0", files: 1},
		{name: "interrupts", now: "0-1", want: "0", files: 1},
		{name: "watchdog", why: "does not have it"},
	} {
		s := state(t, m, c.name)
		if s.Now != c.now || len(s.Changes) != c.files || s.Already != c.already || !strings.Contains(s.Why, c.why) || (c.why == "") != (s.Why == "") {
			t.Errorf("%s: %+v", c.name, s)
		}
		if c.files > 0 && s.Changes[0].New != c.want {
			t.Errorf("%s would be set to %q", c.name, s.Changes[0].New)
		}
		for _, x := range s.Changes {
			if !x.Ours() {
				t.Errorf("%s: %+v could not be put back", c.name, x)
			}
		}
	}
}

// TestMeans: what the kernel says by a number is said in words too.
func TestMeans(t *testing.T) {
	m := made(t, map[string]string{
		"/sys/kernel/rcu_expedited": "0", "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never", "/sys/devices/system/cpu/intel_pstate/no_turbo": "0",
		"/proc/sys/vm/stat_interval": "1", "/proc/sys/vm/swappiness": "60", "/proc/swaps": "Filename\n/swap\n", "/proc/sys/vm/dirty_writeback_centisecs": "500",
		"/proc/sys/vm/compaction_proactiveness": "20", "/proc/sys/kernel/watchdog": "1", "/proc/sys/kernel/numa_balancing": "1",
		"/sys/devices/system/cpu/cpuidle/current_driver": "intel_idle", "/dev/cpu_dma_latency": "", "/sys/devices/system/cpu/online": "0-1", "/proc/irq/4/smp_affinity_list": "0-1",
	})
	for name, want := range map[string]string{
		"rcu-expedited": "0 off, on", "huge-pages": "madvise , ", "turbo": "0 faster while cool, no faster", "statistics": "1 every 1 s, every 120 s", "swap": "60 60 of 200, last of all",
		"writeback": "500 every 5 s, never", "compaction": "20 20 of 100, only when needed", "watchdog": "1 on, off", "numa-balancing": "1 on, off",
		"idle-states": " , awake within 0 µs", "interrupts": "0-1 processors 0-1, processor 0",
	} {
		s := state(t, m, name)
		if got := s.Now + " " + s.Means + ", " + s.TunedMeans(); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	boosts := made(t, map[string]string{"/sys/devices/system/cpu/cpufreq/boost": "1", "/proc/sys/vm/dirty_writeback_centisecs": "x"})
	if s := state(t, boosts, "turbo"); s.Means != "faster while cool" || s.TunedMeans() != "no faster" {
		t.Errorf("%+v", s)
	}
	if s := state(t, boosts, "writeback"); s.Now != "x" || s.Means != "" {
		t.Errorf("what is no number means %+v", s)
	}
}

// TestSetAndUnset: what somebody else has set meanwhile stays, and what is gone needs
// nothing.
func TestSetAndUnset(t *testing.T) {
	const path = "/proc/sys/vm/stat_interval"
	m := made(t, map[string]string{path: "1\n"})
	c := state(t, m, "statistics").Changes[0]
	text := func() string {
		b, err := os.ReadFile(m.path(path))
		require.NoError(t, err)
		return strings.TrimSpace(string(b))
	}
	for _, by := range []string{"", "7"} {
		if err := m.Set(c); err != nil || text() != "120" {
			t.Fatalf("%q %v", text(), err)
		}
		want := c.Old
		if by != "" {
			want = by
			require.NoError(t, os.WriteFile(m.path(path), []byte(by), 0o600))
		}
		if err := m.Unset(c); err != nil || text() != want {
			t.Errorf("%q %v, and it should be %q", text(), err, want)
		}
	}
	require.NoError(t, os.Remove(m.path(path)))
	if err := m.Unset(c); err != nil {
		t.Error(err)
	}
	if err := m.Set(c); !errors.Is(err, errAbsent) {
		t.Errorf("a setting that is not there was made: %v", err)
	}
}

func TestWanted(t *testing.T) {
	const cpufreq = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_"
	m := made(t, map[string]string{"/sys/kernel/rcu_expedited": "0\n", "/proc/sys/vm/stat_interval": "120\n", "/proc/sys/kernel/watchdog": "1\n",
		"/sys/kernel/mm/transparent_hugepage/enabled": "always [never]\n", cpufreq + "available_governors": "powersave performance\n", cpufreq + "governor": "powersave\n"})
	for level, want := range map[string]string{"": "", "rcu-expedited=0": "rcu-expedited=0", "watchdog+huge-pages=always": "huge-pages=always watchdog", "governor=performance": "governor=performance", "default": "", "all": "rcu-expedited governor huge-pages statistics watchdog", "watchdog+rcu-expedited": "rcu-expedited watchdog", "statistics": "statistics"} {
		states, err := m.Wanted(level)
		var names []string
		for _, s := range states {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); got != want || err != nil {
			t.Errorf("%q: %q %v", level, got, err)
		}
	}
	for level, why := range map[string]string{"swap=0": "does not have it", "huge-pages=madvise": "this kernel offers always, never", "governor=schedutil": "offers powersave, performance",
		"rcu-expedited=2": "2 is not a value of rcu-expedited: choose one of 0, 1", "aslr=0": "not a setting with values", "rcu-expedited=0+rcu-expedited=1": "twice", "rcu-expedited+rcu-expedited=1": "twice", "rcu-expedited+nonsense": "not a machine state"} {
		if _, err := m.Wanted(level); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v", level, err)
		}
	}
	// What is written is what the level says, and what is so already is not written.
	for level, want := range map[string]string{"rcu-expedited=1": "0 1", "rcu-expedited=0": "", "statistics=1": "120 1"} {
		states, err := m.Wanted(level)
		require.NoError(t, err)
		got := ""
		for _, c := range states[0].Changes {
			if got += c.Old + " " + c.New; !c.Ours() {
				t.Errorf("%s: %+v could not be put back", level, c)
			}
		}
		if got != want {
			t.Errorf("%s changes %q, not %q", level, got, want)
		}
	}
	if _, err := made(t, nil).Wanted(Everything); err == nil {
		t.Error("a machine on which nothing can be set is tuned")
	}
}

func TestOurs(t *testing.T) {
	for _, c := range []Change{{Path: "/etc/passwd"}, {Path: "/sys/../etc/passwd"}, {Path: "/proc/1/mem"}, {Path: "/home", Option: "exec"}, {Path: "/dev/sda", Held: true}, {Path: "sys/x"},
		{Path: "/proc/sys/kernel/core_pattern"}, {Path: "/proc/sys/kernel/modprobe"}, {Path: "/sys/kernel/uevent_helper"}, {Path: "/proc/irq/../sys/kernel/core_pattern"}, {Path: "/sys/devices/system/cpu/cpu0/../cpufreq/boost"}} {
		if c.Ours() {
			t.Errorf("%+v passes for a setting", c)
		}
	}
}

// TestSettable: each file that a setting is in can be put back, and no other.
func TestSettable(t *testing.T) {
	all := map[string]string{"/proc/swaps": "Filename\n/swap\n", "/sys/devices/system/cpu/online": "0-1\n",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors": "performance powersave schedutil ondemand conservative\n"}
	for _, pattern := range settable {
		all[strings.Replace(pattern, "*", "4", 1)] = "other\n"
	}
	seen := map[string]bool{}
	for _, m := range []Machine{made(t, all), made(t, map[string]string{"/sys/devices/system/cpu/cpufreq/boost": "1\n"})} {
		states := m.Look()
		for _, part := range Values() {
			if s, err := m.value(part); err == nil {
				states = append(states, s)
			}
		}
		for _, s := range states {
			for _, c := range s.Changes {
				if seen[c.Path] = true; !c.Ours() {
					t.Errorf("%s: %+v could not be put back", s.Name, c)
				}
			}
		}
	}
	for _, pattern := range settable {
		if !seen[strings.Replace(pattern, "*", "4", 1)] {
			t.Errorf("no setting is in %s", pattern)
		}
	}
}

// TestFavorDynMods: the option is set only where the kernel takes it back, and only where
// the mount is another.
func TestFavorDynMods(t *testing.T) {
	const with, without = "rw,nsdelegate,favordynmods", "rw,nsdelegate"
	for _, c := range []struct{ level, options, release, want, why string }{
		{"favordynmods", without, "6.1.0-49-cloud-amd64", "no yes", ""},
		{"favordynmods=1", without, "6.17.9", "no yes", ""},
		{"favordynmods=0", with, "6.12.1", "yes no", ""},
		{"favordynmods=0", without, "6.18.44", "", ""},
		{"favordynmods=1", with, "6.18.44", "", ""},
		{"favordynmods=1", without, "6.18.44", "", "Linux 6.18, does not take it back"},
		{"favordynmods", without, "6.18.0-rc1", "", "Linux 6.18, does not take it back"},
		{"favordynmods=0", with, "7.2.0", "", "cgroup_favordynmods=true"},
		{"favordynmods=1", without, "a kernel of mine", "", "the kernel's version can't be read"},
		{"favordynmods+favordynmods=1", with, "6.1.0", "", "twice"},
	} {
		m := made(t, map[string]string{"/proc/sys/kernel/osrelease": c.release + "\n",
			"/proc/self/mountinfo": "30 20 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 " + c.options + "\n"})
		states, err := m.Wanted(c.level)
		got := ""
		if os.Geteuid() != 0 && c.want != "" {
			if err == nil || !strings.Contains(err.Error(), "root only") {
				t.Errorf("%s: an ordinary user may: %v", c.level, err)
			}
			continue
		}
		if err == nil {
			for _, x := range states[0].Changes {
				if got += x.Old + " " + x.New; !x.Ours() {
					t.Errorf("%s: %+v could not be put back", c.level, x)
				}
			}
		}
		if got != c.want || (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s on %s with %s: %q, %v", c.level, c.release, c.options, got, err)
		}
	}
}

// TestRealOption: the option of the mounted control groups goes on and off, and the
// mount stays as it was.
func TestRealOption(t *testing.T) {
	s := state(t, Machine{}, "favordynmods")
	if len(s.Changes) == 0 {
		t.Skip("favordynmods can't be set here: " + s.Why)
	}
	before, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	c := s.Changes[0]
	if err := (Machine{}).Set(c); err != nil {
		t.Skipf("this kernel does not take the option: %v", err)
	}
	defer func() { _ = Machine{}.Unset(c) }()
	if now, err := (Machine{}).read(c); err != nil || now != yes {
		t.Errorf("%s %v", now, err)
	}
	if err := (Machine{}).Unset(c); err != nil {
		t.Error(err)
	}
	line := func(text []byte) string {
		for l := range strings.Lines(string(text)) {
			if strings.Contains(l, " "+c.Path+" ") {
				return l
			}
		}
		return ""
	}
	if after, _ := os.ReadFile("/proc/self/mountinfo"); line(after) != line(before) {
		t.Errorf("the mount was\n%sand is\n%s", line(before), line(after))
	}
}

// TestValuesInManual: the manual has each setting that can have a value, with all of
// them.
func TestValuesInManual(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/tune.md")
	require.NoError(t, err)
	for _, v := range valued {
		if row := "| `" + v.name + "` | `" + strings.Join(v.values, "`, `") + "` |"; !strings.Contains(string(manual), row) {
			t.Errorf("docs/tune.md has no %s", row)
		}
	}
}
