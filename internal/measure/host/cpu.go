//go:build linux

package host

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func (m Machine) exists(p string) bool {
	_, err := os.Lstat(m.path(p))
	return err == nil
}

// governor lists the frequency governors in force, usually one; empty where
// the kernel does not control the frequency (most virtual machines).
func (m Machine) governor() string {
	seen := map[string]bool{}
	for _, p := range m.glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		if g := m.text(p); g != "" {
			seen[g] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), " ")
}

// turbo says "on" or "off", empty where it can't be seen.
func (m Machine) turbo() string {
	switch m.text("/sys/devices/system/cpu/intel_pstate/no_turbo") {
	case "0":
		return "on"
	case "1":
		return "off"
	}
	switch m.text("/sys/devices/system/cpu/cpufreq/boost") {
	case "1":
		return "on"
	case "0":
		return "off"
	}
	return ""
}

// mitigations sums up the vulnerabilities: those that are mitigated, and those
// that are open.
func (m Machine) mitigations() string {
	var on, open []string
	for _, p := range m.glob("/sys/devices/system/cpu/vulnerabilities/*") {
		t, name := m.text(p), filepath.Base(p)
		switch {
		case strings.HasPrefix(t, "Vulnerable"):
			open = append(open, name)
		case strings.Contains(t, "Mitigation"):
			on = append(on, name)
		}
	}
	var parts []string
	if len(on) > 0 {
		parts = append(parts, "on: "+strings.Join(on, " "))
	}
	if len(open) > 0 {
		parts = append(parts, "vulnerable: "+strings.Join(open, " "))
	}
	return strings.Join(parts, "; ")
}

// chosen picks the bracketed word of a sysfs choice, "always [madvise] never".
func chosen(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if !ok {
		return ""
	}
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}

// isolation keeps the words of the kernel's command line that change how fast
// things start; the rest is nobody's business.
func isolation(cmdline string) string {
	var l []string
	for w := range strings.FieldsSeq(cmdline) {
		if hasPrefixAny(w, "isolcpus=", "nohz_full=", "rcu_nocbs=", "mitigations=", "nosmt", "idle=", "processor.max_cstate=",
			"intel_idle.max_cstate=", "preempt=", "cgroup_no_v1=", "systemd.unified_cgroup_hierarchy=") {
			l = append(l, w)
		}
	}
	return strings.Join(l, " ")
}
