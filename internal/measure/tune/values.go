package tune

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// assign parts the name of a setting from the value that a level gives it.
const assign = "="

// valued are the settings that a level can give a value, and which: a list of what is
// allowed, since a study is data that may come from somebody else. Nothing of it lets
// anyone do what he could not do before, or can make the machine fail.
var valued = []struct {
	name   string
	values []string
	set    func(value string) func(Machine) ([]Change, error)
}{
	{"rcu-expedited", []string{"0", "1"}, one("/sys/kernel/rcu_expedited")},
	{"favordynmods", []string{"0", "1"}, favored},
	{"governor", []string{"performance", "powersave", "schedutil", "ondemand", "conservative"}, governor},
	{"huge-pages", []string{"always", "madvise", "never"}, one("/sys/kernel/mm/transparent_hugepage/enabled")},
	{"swap", []string{"0", "10", "60", "100"}, one("/proc/sys/vm/swappiness")},
	{"writeback", []string{"0", "100", "500"}, one("/proc/sys/vm/dirty_writeback_centisecs")},
	{"compaction", []string{"0", "20"}, one("/proc/sys/vm/compaction_proactiveness")},
	{"statistics", []string{"1", "120"}, one("/proc/sys/vm/stat_interval")},
	{"watchdog", []string{"0", "1"}, one("/proc/sys/kernel/watchdog")},
	{"numa-balancing", []string{"0", "1"}, one("/proc/sys/kernel/numa_balancing")},
	// These alone make no machine steadier, so no state has them.
	// Documentation/admin-guide/sysctl/vm.rst, kernel.rst and net.rst.
	{"cache-pressure", []string{"50", "100", "200"}, one("/proc/sys/vm/vfs_cache_pressure")},
	{"autogroup", []string{"0", "1"}, one("/proc/sys/kernel/sched_autogroup_enabled")},
	{"timer-migration", []string{"0", "1"}, one("/proc/sys/kernel/timer_migration")},
	{"bpf-jit", []string{"0", "1"}, one("/proc/sys/net/core/bpf_jit_enable")},
}

func one(path string) func(string) func(Machine) ([]Change, error) {
	return func(value string) func(Machine) ([]Change, error) { return file(path, value) }
}

// governor is that of all processors, one that the driver offers.
func governor(value string) func(Machine) ([]Change, error) {
	return func(m Machine) ([]Change, error) {
		const offered = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors"
		b, err := os.ReadFile(m.path(offered))
		if err != nil {
			return nil, because(offered, err)
		}
		if !slices.Contains(strings.Fields(string(b)), value) {
			return nil, fmt.Errorf("the processors' driver offers %s", strings.Join(strings.Fields(string(b)), ", "))
		}
		return files("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", value)(m)
	}
}

// Values are the levels that give a setting a value, such as huge-pages=never.
func Values() (out []string) {
	for _, v := range valued {
		for _, value := range v.values {
			out = append(out, v.name+assign+value)
		}
	}
	return out
}

// Levels are all from which a level of the factor can be joined: states, and settings
// with a value.
func Levels() []string { return append(Names(), Values()...) }

// value is a part of a level that gives a setting a value.
func (m Machine) value(part string) (State, error) {
	name, value, _ := strings.Cut(part, assign)
	for _, v := range valued {
		if v.name != name {
			continue
		}
		if !slices.Contains(v.values, value) {
			return State{}, fmt.Errorf("%s is not a value of %s: choose one of %s", value, name, strings.Join(v.values, ", "))
		}
		s := State{Setting: Setting{Name: part}}
		changes, err := v.set(value)(m)
		switch {
		case errors.Is(err, errAlready):
			s.Already, s.Why = true, err.Error()
		case err != nil:
			return State{}, fmt.Errorf("%s can't be set here: %w", part, err)
		default:
			s.Changes, s.Now = changes, changes[0].Old
		}
		return s, nil
	}
	return State{}, fmt.Errorf("%q is not a setting with values: choose one of %s", part, strings.Join(Values(), ", "))
}
