//go:build linux

package host

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

func checkClock(r *reading) []record.Remark {
	var l []record.Remark
	if err := r.exam.ticker(); err != nil {
		l = append(l, say(levelRefuse, "clock-broken", fmt.Sprintf("The monotonic clock can't time anything: %v.", err), "measure on another machine"))
	}
	// On arm64 arch_sys_counter is the only one; the list is of what user
	// space reads without a system call.
	switch src := r.facts.More["clocksource"]; src {
	case "", "tsc", "arch_sys_counter":
	case "kvm-clock", "hyperv_clocksource_tsc_page":
		l = append(l, say(levelInfo, "clocksource", fmt.Sprintf("The clock is the hypervisor's (%s): a little slower to read than the CPU's own.", src), ""))
	default:
		l = append(l, say(levelWarn, "clocksource", fmt.Sprintf("The clock %s is read by a system call, which makes each stamp late by a microsecond or more.", src),
			"look in the kernel's log for the reason why the TSC is not used, or boot with tsc=reliable where it is sound"))
	}
	if m, ok := r.m.timeOffset(); ok && m != "" {
		l = append(l, say(levelInfo, "time-namespace", "Plimsoll runs in a time namespace whose monotonic clock is shifted by "+m+" s: containers that leave it have another clock.",
			"run it outside of the time namespace"))
	}
	return l
}

// timeOffset is the shift of our monotonic clock by a time namespace, as in
// "monotonic 3600 0"; empty where it is zero.
func (m Machine) timeOffset() (string, bool) {
	t := m.text("/proc/self/timens_offsets")
	for l := range strings.Lines(t) {
		f := strings.Fields(l)
		if len(f) == 3 && f[0] == "monotonic" {
			if f[1] == "0" && f[2] == "0" {
				return "", true
			}
			return f[1], true
		}
	}
	return "", false
}

func checkCPUs(r *reading) []record.Remark {
	var l []record.Remark
	switch n := r.facts.CPUs; {
	case n == 1:
		l = append(l, say(levelWarn, "few-cpus", "There is one CPU: engine, container and stopwatch take turns on it.", "measure on a machine with 2 CPUs or more"))
	case n > 1 && n < 4:
		l = append(l, say(levelInfo, "few-cpus", fmt.Sprintf("There are %d CPUs: an engine's daemon and its container contend for them more than on a server.", n), ""))
	}
	if r.facts.More["smt"] == "on" {
		l = append(l, say(levelInfo, "smt", "CPUs share cores in pairs (SMT): a neighbour on the same core slows a trial down.",
			"echo off > /sys/devices/system/cpu/smt/control, for steadier numbers"))
	}
	return l
}

func checkFrequency(r *reading) []record.Remark {
	var l []record.Remark
	if g := r.facts.More["governor"]; g != "" && g != "performance" {
		l = append(l, say(levelWarn, "governor", fmt.Sprintf("The CPUs' frequency follows the load (governor %s): short trials run at a low one.", g),
			"cpupower frequency-set -g performance"))
	}
	if r.facts.More["turbo"] == "on" {
		l = append(l, say(levelInfo, "turbo", "Turbo is on: the CPUs run faster while they are cool and few of them work.", "switch it off in the firmware or in /sys/devices/system/cpu, for steadier numbers"))
	}
	mains, supplies := false, 0
	for _, p := range r.m.glob("/sys/class/power_supply/*/online") {
		if t := r.m.text(strings.TrimSuffix(p, "online") + "type"); t == "Mains" || t == "USB" {
			supplies++
			mains = mains || r.m.text(p) == "1"
		}
	}
	if supplies > 0 && !mains {
		l = append(l, say(levelWarn, "battery", "The machine runs on its battery and saves power.", "plug it in"))
	}
	return l
}

func checkVirtual(r *reading) []record.Remark {
	var l []record.Remark
	if c := r.m.container(); c != "" {
		l = append(l, say(levelWarn, "in-container", fmt.Sprintf("Plimsoll itself runs in a container (%s): engines inside it behave differently than on the machine itself.", c), "run it on the machine itself"))
	}
	if h := r.m.hypervisor(r.cpu); h != "" {
		l = append(l, say(levelInfo, "virtual-machine", fmt.Sprintf("This is a virtual machine (%s): its neighbours may slow it down, and some system calls cost more than on bare metal.", h), ""))
	}
	return l
}

// debugOptions are kernel options that make what an engine does (locks,
// allocations, lists) many times slower.
var debugOptions = []string{
	"CONFIG_PROVE_LOCKING", "CONFIG_LOCK_STAT", "CONFIG_KASAN", "CONFIG_KCSAN", "CONFIG_KMSAN", "CONFIG_UBSAN_SANITIZE_ALL",
	"CONFIG_DEBUG_KMEMLEAK", "CONFIG_SLUB_DEBUG_ON", "CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT", "CONFIG_DEBUG_OBJECTS",
}

func checkKernel(r *reading) []record.Remark {
	var l []record.Remark
	if f := r.kernelConfig(); f != nil {
		defer f.Close()
		var on []string
		err := lines(f, func(s string) error {
			if opt, ok := strings.CutSuffix(s, "=y"); ok && slices.Contains(debugOptions, opt) {
				on = append(on, opt)
			}
			return nil
		})
		if err == nil && len(on) > 0 {
			l = append(l, say(levelWarn, "debug-kernel", "The kernel is built for finding faults ("+strings.Join(on, ", ")+"), which slows containers down.", "boot the distribution's ordinary kernel"))
		}
	}
	if r.facts.More["thp"] == "always" {
		l = append(l, say(levelInfo, "thp", "Transparent huge pages are always on: memory figures come in steps of 2 MiB, and the first touch of memory costs more.",
			"echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"))
	}
	return l
}
