package lxc

import (
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
)

// mechanisms are what can be taken away, from the outside in, and what can be added.
// The namespaces stay: LXC sets the container's name in whatever UTS namespace it is,
// stops a container by its PID 1, and starts none in the host's IPC namespace. So do the
// paths below /proc: it mounts one itself, whatever it is told.
var mechanisms = slices.Concat(
	[]engine.Mechanism{engine.Exchanged(engine.Client, bySteps, byExecute), engine.Exchanged(engine.Network, engine.DefaultLevel, "none"),
		engine.Exchanged(engine.Storage, "overlay", "directory"), engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off")},
	engine.LeftOut(engine.AppArmor, engine.Capabilities),
	[]engine.Mechanism{engine.Exchanged(engine.Network, "none", "host")},
	engine.Added(engine.NoNewPrivileges, engine.Rlimits, engine.OOMScore))

// notAttached: a program that is attached has the limits and the score of who attached it.
var notAttached = engine.Rule{When: map[string][]string{engine.Client: {bySteps}, engine.With: {engine.Rlimits, engine.OOMScore}},
	Because: "lxc-attach gives the program that it starts neither the container's limits nor its score.", Source: "https://linuxcontainers.org/lxc/manpages/man5/lxc.container.conf.5.html"}

// changed are the settings for what is left out and added; an empty one takes back
// what the included configuration has set.
func changed(spec engine.Spec) (set [][2]string) {
	add := func(key, value string) { set = append(set, [2]string{key, value}) }
	if spec.Level(engine.Seccomp) == "off" {
		add("lxc.seccomp.profile", "")
	}
	if spec.Omits(engine.AppArmor) {
		add("lxc.apparmor.profile", "unconfined")
	}
	if spec.Omits(engine.Capabilities) {
		add("lxc.cap.drop", "")
	}
	if spec.Adds(engine.NoNewPrivileges) {
		add("lxc.no_new_privs", "1")
	}
	if spec.Adds(engine.Rlimits) {
		add("lxc.prlimit.nofile", fmt.Sprint(engine.RlimitFiles))
		add("lxc.prlimit.core", "0")
	}
	if spec.Adds(engine.OOMScore) {
		add("lxc.proc.oom_score_adj", fmt.Sprint(engine.ScoreAdded))
	}
	return set
}
