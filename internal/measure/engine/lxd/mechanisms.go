package lxd

import (
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
)

// mechanisms are what can be taken away, from the outside in, and what can be added.
// The namespaces stay, as liblxc keeps them, and so do the paths below /proc. Limits of
// a process and its score are not added: a program that is executed in a container has
// those of the daemon. Nor are limits of the container: on cgroup v1 nothing inside tells
// of them.
var mechanisms = slices.Concat(
	[]engine.Mechanism{engine.Exchanged(engine.Client, byCLI, byAPI), engine.Exchanged(engine.Network, engine.DefaultLevel, "none"),
		engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off")},
	engine.LeftOut(engine.AppArmor),
	[]engine.Mechanism{engine.Exchanged(engine.Privileged, "no", "yes")},
	engine.LeftOut(engine.Capabilities),
	engine.Added(engine.NoNewPrivileges))

// keepsAll: what the daemon drops it drops of privileged containers alone.
var keepsAll = engine.Rule{
	When:    map[string][]string{engine.Privileged: {"no"}, engine.Without: {engine.Capabilities}},
	Because: "Root in a container that is not privileged has all capabilities in its user namespace, and none is dropped.",
	Source:  "https://documentation.ubuntu.com/lxd/latest/explanation/security/",
}

// raw are the settings of liblxc for an environment's containers, those of one of them
// behind: the init and what is left out and added; an empty value takes back what the
// daemon has set.
func raw(spec engine.Spec, own ...string) string {
	lines := []string{"lxc.init.cmd = " + initCommand}
	if spec.Omits(engine.AppArmor) {
		lines = append(lines, "lxc.apparmor.profile = unconfined")
	}
	if spec.Omits(engine.Capabilities) {
		lines = append(lines, "lxc.cap.drop =")
	}
	if spec.Adds(engine.NoNewPrivileges) {
		lines = append(lines, "lxc.no_new_privs = 1")
	}
	return strings.Join(append(lines, own...), "\n")
}
