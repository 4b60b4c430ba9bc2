// Package kata says what a machine has of Kata Containers, a runtime that gives
// each container a virtual machine: for all engines that can use it.
//
// It is opinionated: it reads files and starts nothing, since what the live
// engine runs is for the engine's adapter to prove; and of a virtual machine
// that could not work anyway (no /dev/kvm) it says so before one is tried.
package kata

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
)

// Shim is the program that containerd, and Docker by it, starts for a pod.
const Shim = "containerd-shim-kata-v2"

// Handlers are the usual names, with the hypervisor that each stands for; the
// plain one is whatever the configuration chooses.
var Handlers = map[string]string{"kata": "", "kata-qemu": "qemu", "kata-clh": "clh", "kata-fc": "firecracker"}

// Levels are the names in Handlers, the plain one first.
var Levels = []string{"kata", "kata-qemu", "kata-clh", "kata-fc"}

// Machine is where to look; "" is this one's root.
type Machine struct{ Root string }

// configurations are the files that Kata reads, its own order; the first that
// exists is in force. https://github.com/kata-containers/kata-containers/blob/main/src/runtime/README.md
var configurations = []string{
	"/etc/kata-containers/%s", "/usr/share/defaults/kata-containers/%s", "/opt/kata/share/defaults/kata-containers/%s",
}

// shims are where installations put the shim beside the PATH.
var shims = []string{"/opt/kata/bin", "/usr/local/bin", "/usr/bin"}

// Missing says what is in the way of a runtime of this name, and what helps;
// both are empty where nothing is, as far as files tell.
func (m Machine) Missing(name string, lookPath func(string) (string, error)) (reason, fix string) {
	if _, err := lookPath(Shim); err != nil && !m.hasShim() {
		return "Kata Containers is not installed (" + Shim + " is neither on the PATH nor in /opt/kata/bin)",
			"install Kata Containers: https://github.com/kata-containers/kata-containers/tree/main/docs/install"
	}
	if _, err := os.Stat(m.Root + "/dev/kvm"); err != nil {
		return "Kata Containers needs hardware virtualisation, and there is no /dev/kvm",
			kvmFix()
	}
	if want := Handlers[name]; want != "" {
		if path, is := m.configuration("configuration-" + strings.TrimPrefix(name, "kata-") + ".toml"); path == "" {
			return fmt.Sprintf("Kata Containers has no configuration for %s here", want), "install the package of Kata Containers that has it"
		} else if is != want {
			return fmt.Sprintf("%s is said to be for %s and chooses %q", path, want, is), ""
		}
	}
	return "", ""
}

// Is says whether a runtime, by its name or by its type, is one of Kata's, and
// by which name it stands in Handlers.
func Is(runtime string) (name string, ok bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(runtime, "io.containerd."), ".v2")
	return name, name == "kata" || strings.HasPrefix(name, "kata-")
}

// Facts are the configuration in force for a runtime of this name and the
// hypervisor that it chooses; empty where there is none.
func (m Machine) Facts(name string) map[string]string {
	for _, file := range []string{"configuration-" + strings.TrimPrefix(name, "kata-") + ".toml", "configuration.toml"} {
		if path, hypervisor := m.configuration(file); path != "" {
			return map[string]string{"hypervisor": hypervisor, "hypervisor-config": path}
		}
	}
	return nil
}

func (m Machine) hasShim() bool {
	for _, dir := range shims {
		if _, err := os.Stat(filepath.Join(m.Root, dir, Shim)); err == nil {
			return true
		}
	}
	return false
}

// configuration finds a file of this name, and what hypervisor it chooses.
func (m Machine) configuration(file string) (path, hypervisor string) {
	for _, pattern := range configurations {
		path = fmt.Sprintf(pattern, file)
		if text, err := os.ReadFile(m.Root + path); err == nil {
			return path, Hypervisor(string(text))
		}
	}
	return "", ""
}

// Hypervisor reads a configuration: the table [hypervisor.NAME] that is there,
// and not commented out, chooses.
func Hypervisor(text string) string {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "[hypervisor."); ok && strings.HasSuffix(name, "]") {
			return strings.TrimSuffix(name, "]")
		}
	}
	return ""
}

// kvmFix is what may bring /dev/kvm.
func kvmFix() string {
	const nested = "in a virtual machine, allow nested virtualisation"
	if load := engine.Modprobe("kvm_amd", "kvm_intel"); load != "" {
		return "modprobe kvm_intel or kvm_amd; " + nested
	}
	return nested
}
