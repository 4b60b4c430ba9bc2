//go:build linux

package host

import (
	"os"
	"slices"
	"strings"
)

// dmiNames tells a hypervisor by what the firmware says of the machine, and
// by the part of the text that tells it. The first match counts.
var dmiNames = []struct{ text, name string }{
	{"QEMU", "kvm"}, {"KVM", "kvm"}, {"OpenStack", "kvm"}, {"Google Compute Engine", "kvm"}, {"Amazon EC2", "amazon"},
	{"VMware", "vmware"}, {"VMW", "vmware"}, {"innotek GmbH", "virtualbox"}, {"VirtualBox", "virtualbox"},
	{"Xen", "xen"}, {"Bochs", "bochs"}, {"Parallels", "parallels"}, {"BHYVE", "bhyve"}, {"Hyper-V", "hyper-v"},
	{"Virtual Machine", "hyper-v"}, {"Apple Virtualization", "apple"},
}

// virtual says which hypervisor and which container we are in; empty is bare
// metal, as far as can be seen.
func (m Machine) virtual(cpu cpuInfo) string {
	v := m.hypervisor(cpu)
	if c := m.container(); c != "" {
		v = strings.TrimPrefix(v+", container ("+c+")", ", ")
	}
	return v
}

func (m Machine) hypervisor(cpu cpuInfo) string {
	if t := m.text("/sys/hypervisor/type"); t != "" {
		return t
	}
	// QEMU without KVM: its firmware is the same, and every instruction is
	// translated.
	if strings.Contains(cpu.Model, "QEMU TCG") {
		return "qemu"
	}
	// User-Mode Linux: a process of another kernel's, without firmware.
	if cpu.Model == "UML" {
		return "uml"
	}
	// The clocks that a hypervisor offers name it, firmware or not.
	clocks := m.text("/sys/devices/system/clocksource/clocksource0/available_clocksource")
	for clock, name := range map[string]string{"kvm-clock": "kvm", "hyperv_clocksource": "hyper-v"} {
		if strings.Contains(clocks, clock) {
			return name
		}
	}
	// A machine's own firmware may carry a name of the list too (an Amazon
	// bare-metal instance does), so where the CPU can say, it decides.
	if !cpu.hypervisor() && m.isX86(cpu) {
		return ""
	}
	for _, file := range []string{"sys_vendor", "product_name", "board_vendor", "bios_vendor"} {
		t := m.text("/sys/class/dmi/id/" + file)
		for _, d := range dmiNames {
			if t != "" && strings.Contains(t, d.text) {
				return d.name
			}
		}
	}
	if cpu.hypervisor() {
		return "unknown hypervisor"
	}
	return ""
}

// isX86 tells by a flag that every x86 CPU has.
func (m Machine) isX86(cpu cpuInfo) bool {
	return slices.Contains(cpu.Flags, "tsc") || slices.Contains(cpu.Flags, "fpu")
}

// initialNamespaces are the numbers that the kernel gives to the namespaces it
// boots with; source: include/linux/proc_ns.h (PROC_PID_INIT_INO and others).
var initialNamespaces = map[string]string{
	"pid": "pid:[4026531836]", "uts": "uts:[4026531838]", "ipc": "ipc:[4026531839]", "cgroup": "cgroup:[4026531835]",
}

// outside says that we live in all the namespaces that the kernel booted with.
func (m Machine) outside() bool {
	for kind, first := range initialNamespaces {
		if ns, err := os.Readlink(m.path("/proc/self/ns/" + kind)); err != nil || ns != first {
			return false
		}
	}
	return true
}

// container names the container manager around us, by the marks that they
// leave; source: systemd's CONTAINER_INTERFACE and the managers themselves.
// The marks are files and may have come with a disk: a machine whose root was
// made from a container image still has them and is no container.
func (m Machine) container() string {
	if m.outside() {
		return ""
	}
	if t := m.text("/run/systemd/container"); t != "" {
		return t
	}
	if m.exists("/run/.containerenv") {
		return "podman"
	}
	if m.exists("/.dockerenv") {
		return "docker"
	}
	for kv := range strings.SplitSeq(m.text("/proc/1/environ"), "\x00") {
		if t, ok := strings.CutPrefix(kv, "container="); ok && t != "" {
			return t
		}
	}
	return ""
}
