package adapter

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/wrap"
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
// left out: an option that is taken need not have come to anything, and what is
// still there must not be said to cost nothing. What leaves no trace inside
// (pivot_root, the keyring) goes unproved.
func JudgeOmitted(spec engine.Spec, inside map[string]string) error {
	for _, m := range engine.Parts(engine.Without, spec.Level(engine.Without)) {
		if why := stillThere(m, spec, inside); why != "" {
			return &engine.Error{Class: record.WrongComponent, Text: fmt.Sprintf("asked for a container without %s, and %s", m, why)}
		}
	}
	return nil
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
	case engine.Capabilities:
		status, err := proc.Here.Status(proc.Self)
		got, want := known(inside["cap.eff"]), known(status["CapEff"])
		if err == nil && spec.Level(engine.Rootless) != "yes" && got&want != want {
			return fmt.Sprintf("the payload had the capabilities %x of ours, which are %x", got, want)
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

// NoCgroupNamespace says why a cgroup namespace can't be left out here: on cgroup
// v1 engines with a manager give none unless they are told to.
func NoCgroupNamespace(level string) string {
	if level == engine.CgroupNamespace && wrap.Version() == "v1" {
		return "on cgroup v1 it gives its containers no cgroup namespace of their own by itself"
	}
	return ""
}
