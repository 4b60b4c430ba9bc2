package audit

import (
	"slices"
	"strings"
)

// mechanisms says which properties a mechanism changes by its nature, whether it is left
// out (the factor without) or added (with). One that is not here changes none that the
// audit knows.
var mechanisms = map[string][]string{
	"capabilities":      {"capabilities", "cap-bounding"},
	"pid-namespace":     {"ns.pid", "pid1"},
	"ipc-namespace":     {"ns.ipc"},
	"uts-namespace":     {"ns.uts"},
	"cgroup-namespace":  {"ns.cgroup", "cgroup-namespace", "cgroup-path"},
	"user-namespace":    {"ns.user", "uid-map", "gid-map"},
	"control-group":     {"cgroup-path", "cpu-limit", "memory-limit", "pids-limit", "limits"},
	"group-making":      {"cgroup-path"},
	"apparmor":          {"apparmor", accessControl},
	"selinux":           {accessControl},
	"init":              {"init", "pid1"},
	"log-file":          {"log"},
	"journal":           {"log"},
	"no-new-privileges": {"no-new-privs"},
	"rlimits":           {"rlimit.nofile", "rlimit.nproc", "ulimits"},
	"limits":            {"limits", "cpu-limit", "memory-limit", "pids-limit"},
	"writable-layer":    {"root", "root-fs"},
	"own-daemon":        {"daemon", "host", "root", "graph-root"},
}

// Mechanisms are those that are known to change a property.
func Mechanisms() []string { return InOrder(mechanisms) }

// broughtBy are the properties that the factors apart bring with them.
func broughtBy(factors []string, x, y *Environment) []string {
	var out []string
	for _, f := range factors {
		out = append(out, brings[f]...)
		if f != "without" && f != "with" {
			continue
		}
		a, b := strings.Split(x.levels[f], "+"), strings.Split(y.levels[f], "+")
		for _, m := range append(a, b...) {
			if slices.Contains(a, m) != slices.Contains(b, m) {
				out = append(out, mechanisms[m]...)
			}
		}
	}
	return out
}
