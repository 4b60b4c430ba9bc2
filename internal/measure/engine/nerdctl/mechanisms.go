package nerdctl

import (
	"os"
	"slices"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// mechanisms are what can be taken away, from the outside in, and what can be added.
// nerdctl has no option for masked paths and none for a log that is kept nowhere, and
// demands a terminal of its own where the program is to have one.
var mechanisms = slices.Concat([]engine.Mechanism{
	engine.Exchanged(engine.Network, "bridge", "none"),
	engine.Exchanged(engine.Seccomp, engine.DefaultLevel, "off"),
}, engine.LeftOut(engine.AppArmor, engine.Capabilities, engine.CgroupNamespace, engine.PIDNamespace, engine.IPCNamespace, engine.UTSNamespace),
	[]engine.Mechanism{engine.Exchanged(engine.Network, "none", "host"), engine.Exchanged(engine.Runtime, "runc", "crun")},
	engine.Added(engine.NoNewPrivileges, engine.Rlimits, engine.OOMScore, engine.SomeLimits),
	[]engine.Mechanism{engine.Copied("overlayfs", "native")})

// notHere says why nerdctl can't leave a mechanism out, or add it, on this machine. With
// the host's IPC namespace it mounts the host's message queues too.
func notHere(factor, level string) string {
	if _, err := os.Stat("/dev/mqueue"); err != nil && factor == engine.Without && level == engine.IPCNamespace {
		return "nerdctl then mounts the host's /dev/mqueue, and there is none"
	}
	return adapter.NotHere(factor, level)
}

// mechanismArgs take away what a spec leaves out, and add what it adds.
func mechanismArgs(spec engine.Spec) (args []string) {
	for _, m := range []struct{ name, option string }{
		{engine.AppArmor, "--security-opt=apparmor=unconfined"},
		{engine.CgroupNamespace, "--cgroupns=host"},
		{engine.PIDNamespace, "--pid=host"},
		{engine.IPCNamespace, "--ipc=host"},
		{engine.UTSNamespace, "--uts=host"},
	} {
		if spec.Omits(m.name) {
			args = append(args, m.option)
		}
	}
	if spec.Omits(engine.Capabilities) {
		for _, c := range engine.OwnCapabilities() {
			args = append(args, "--cap-add="+c)
		}
	}
	if spec.Adds(engine.NoNewPrivileges) {
		args = append(args, "--security-opt=no-new-privileges")
	}
	if spec.Adds(engine.Rlimits) {
		files := strconv.Itoa(engine.RlimitFiles)
		args = append(args, "--ulimit=nofile="+files+":"+files, "--ulimit=core=0:0")
	}
	if spec.Adds(engine.OOMScore) {
		args = append(args, "--oom-score-adj="+strconv.Itoa(engine.ScoreAdded))
	}
	return args
}
