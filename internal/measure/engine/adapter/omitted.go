package adapter

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// namespaces are those that the factor Without leaves out, by their names in
// /proc/self/ns.
var namespaces = map[string]string{
	engine.PIDNamespace: "pid", engine.UTSNamespace: "uts", engine.IPCNamespace: "ipc",
	engine.CgroupNamespace: "cgroup", engine.UserNamespace: "user",
}

// JudgeOmitted holds what the payload saw against the mechanisms that were to be
// left out, and those that were to be added: an option that is taken need not have
// come to anything, and what is still there must not be said to cost nothing. What
// leaves no trace inside (pivot_root, the keyring) goes unproved.
func JudgeOmitted(spec engine.Spec, inside map[string]string) error {
	for _, m := range engine.Parts(engine.Without, spec.Level(engine.Without)) {
		if why := stillThere(m, spec, inside); why != "" {
			return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("asked for a container without %s, and %s", m, why)}
		}
	}
	for _, m := range spec.Extra() {
		if why := notThere(m, inside); why != "" {
			return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("asked for a container with %s, and %s", m, why)}
		}
	}
	return nil
}

// notThere says why what was to be added is not seen from inside. What only the
// engine can tell (a log, a port, a health check) its adapter asks.
func notThere(mechanism string, inside map[string]string) string {
	if ns, ok := namespaces[mechanism]; ok {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		if got := inside["ns."+ns]; err == nil && link == ns+":["+got+"]" {
			return fmt.Sprintf("the payload saw the host's %s namespace, %s", ns, got)
		}
		return ""
	}
	want := func(key, value, what string) string {
		if got := inside[key]; got != value {
			return fmt.Sprintf("the payload saw %s: %q", what, got)
		}
		return ""
	}
	switch mechanism {
	case engine.Init:
		if inside["pid"] == "1" {
			return "the payload is PID 1"
		}
	case engine.Terminal:
		if inside["terminal"] == "" {
			return "the payload's output is not a terminal"
		}
	case engine.NoNewPrivileges:
		return want("no_new_privs", "1", "no_new_privs")
	case engine.Rlimits:
		return want("rlimit.nofile", fmt.Sprintf("%d:%[1]d", engine.RlimitFiles), "its limit of open files")
	case engine.OOMScore:
		return want("oom_score_adj", strconv.Itoa(engine.ScoreAdded), "its score")
	case engine.WritableLayer:
		if !strings.Contains(inside["root.options"], "upperdir=") {
			return "the payload saw no layer to write in"
		}
	case engine.Volatile:
		// Newer kernels name it as one of several ways to sync.
		if o := strings.Split(inside["root.options"], ","); !slices.Contains(o, "volatile") && !slices.Contains(o, "fsync=volatile") {
			return "the payload saw no volatile overlay"
		}
	case engine.IDMappedMount:
		if n := inside["mounts.idmapped"]; n == "" || n == "0" {
			return "the payload saw no mount with other ids"
		}
	case engine.OwnHome:
		if n := inside["mounts.home"]; n == "" || n == "0" {
			return "the payload saw nothing mounted below /home"
		}
	case engine.SomeLimits:
		n := strconv.FormatInt(engine.LimitsAdded.MemoryBytes, 10)
		if inside["limit.memory.max"] != n && inside["limit.memory.limit_in_bytes"] != n {
			return fmt.Sprintf("the payload saw the memory limit %q", inside["limit.memory.max"]+inside["limit.memory.limit_in_bytes"])
		}
	}
	return ""
}

func stillThere(mechanism string, spec engine.Spec, inside map[string]string) string {
	if ns, ok := namespaces[mechanism]; ok {
		link, err := os.Readlink("/proc/self/ns/" + ns)
		if got := inside["ns."+ns]; err == nil && got != "" && link != ns+":["+got+"]" {
			return fmt.Sprintf("the payload saw the %s namespace %s (the host's is %s)", ns, got, link)
		}
		return ""
	}
	switch mechanism {
	case engine.MaskedPaths:
		if n := inside["mounts.proc"]; n != "" && n != "0" {
			return fmt.Sprintf("the payload saw %s paths below /proc that are hidden or read-only", n)
		}
	case engine.Durability:
		if got := inside["fsync"]; got != "0" {
			return "the payload's fsync of no file came to " + got + ": its engine is not under the filter that answers it"
		}
	case engine.NameFiles:
		// The host's name is a file too, and stays.
		if n, err := strconv.Atoi(inside["mounts.etc"]); err == nil && n > 1 {
			return fmt.Sprintf("the payload saw %d files mounted below /etc", n)
		}
	case engine.PasswdFiles:
		if n, err := strconv.Atoi(inside["mounts.etc.passwd"]); err == nil && n > 0 {
			return "the payload saw an /etc/passwd that is mounted"
		}
	case engine.HostMounts:
		for _, at := range []string{"tmp", "home", "root"} {
			if n := inside["mounts."+at]; n != "" && n != "0" {
				return fmt.Sprintf("the payload saw %s mounts at or below /%s", n, at)
			}
		}
	case engine.SmallMounts:
		for at, most := range map[string]int{"dev": 1, "sys": 0} {
			if n, err := strconv.Atoi(inside["mounts."+at]); err == nil && n > most {
				return fmt.Sprintf("the payload saw %d mounts at or below /%s", n, at)
			}
		}
	case engine.AppArmor:
		if got := inside["label"]; got != "" && got != "unconfined" {
			return "the payload ran under the profile " + got
		}
	case engine.SELinux:
		if got := inside["label"]; strings.Contains(got, ":container_") {
			return "the payload ran under the label " + got
		}
	case engine.Capabilities:
		status, err := proc.Here.Status(proc.Self)
		got, want := known(inside["cap.eff"]), known(status["CapEff"])
		if err == nil && spec.Level(engine.Rootless) != "yes" && got&want != want {
			return fmt.Sprintf("the payload had the capabilities %x of this process, which has %x", got, want)
		}
	}
	return ""
}

// known reads a set of capabilities, those that every engine knows.
func known(set string) uint64 {
	n, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
	if err != nil {
		return 0
	}
	return n & engine.KnownCapabilities
}

// NotHere says why a mechanism, or one of those of which a level is joined, can't be
// left out or added on this machine. On cgroup v1 engines with a manager give no
// cgroup namespace unless they are told to.
func NotHere(factor, level string) string {
	for _, m := range engine.Parts(factor, level) {
		switch {
		case m == engine.CgroupNamespace && cgroup.Version() == "v1":
			return "on cgroup v1 it gives its containers no cgroup namespace of their own by itself"
		case m == engine.AppArmor && !confines("/sys/module/apparmor/parameters/enabled"):
			return "the kernel has no AppArmor, or it is switched off"
		case m == engine.SELinux && !exists("/sys/fs/selinux/enforce"):
			return "the kernel has no SELinux, or it is switched off"
		case m == engine.Journal && !exists("/run/systemd/journal/socket"):
			return "no journal of systemd's runs here"
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// confines reads whether AppArmor is on.
func confines(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.TrimSpace(string(text)) == "Y"
}

// Plain is what a container has printed without the line ends of a terminal, where it
// was given one.
func Plain(output []byte, adds engine.Omitted) []byte {
	if !adds.Has(engine.Terminal) {
		return output
	}
	return bytes.ReplaceAll(output, []byte("\r\n"), []byte("\n"))
}
