package podman

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// settings is how an environment's containers are made.
type settings struct {
	image   string
	runID   string
	network string   // empty: not named
	seccomp string   // "off", or empty
	group   string   // the parent of its control groups; empty: podman's own
	ulimits []string // options
	limits  engine.Limits
	omits   engine.Omitted
	adds    engine.Omitted
}

// logDriver is the same for every engine; another one is a mechanism of its own.
const logDriver = "none"

func driverFor(adds engine.Omitted) string {
	switch {
	case adds.Has(engine.LogFile):
		return "k8s-file"
	case adds.Has(engine.Journal):
		return "journald"
	}
	return logDriver
}

// args are the options and the command of `podman run` and `podman create`.
// Swap is taken away with the memory; an init is refused, whatever the user's
// configuration says.
func (s settings) args(verb string, task engine.Task, more ...string) []string {
	args := append([]string{verb}, more...)
	args = append(args, "--name", task.Name, "--label", engine.Label+"="+s.runID,
		"--annotation", engine.Label+"="+s.runID, "--annotation", containerNote+"="+task.Name,
		"--pull=never", "--log-driver="+driverFor(s.adds), "--init="+strconv.FormatBool(s.adds.Has(engine.Init)))
	if network := s.networkOf(task); network != "" {
		args = append(args, "--network="+network)
	}
	args = append(args, mountArgs(task)...)
	if s.group != "" {
		args = append(args, "--cgroup-parent="+s.group)
	}
	if s.seccomp == "off" {
		args = append(args, "--security-opt=seccomp=unconfined")
	}
	for _, m := range mechanisms {
		if m.Factor == engine.Without && s.omits.Has(m.Name) && leaveOutArgs[m.Name] != "" {
			args = append(args, leaveOutArgs[m.Name])
		}
		if m.Factor == engine.With && s.adds.Has(m.Name) {
			args = append(args, addArgs[m.Name]...)
		}
	}
	if s.omits.Has(engine.Capabilities) {
		args = append(args, "--cap-add="+strings.Join(engine.OwnCapabilities(), ","))
	}
	if s.omits.Has(engine.NameFiles) {
		args = append(args, "--no-hosts")
		if s.network != "none" { // it has no /etc/resolv.conf of its own, and takes no option
			args = append(args, "--dns=none")
		}
	}
	if s.adds.Has(engine.Init) {
		args = append(args, "--init-path="+initPath())
	}
	args = append(args, s.inherited()...)
	if s.limits.CPUs > 0 {
		args = append(args, "--cpus="+strconv.FormatFloat(s.limits.CPUs, 'f', -1, 64))
	}
	if s.limits.MemoryBytes > 0 {
		n := strconv.FormatInt(s.limits.MemoryBytes, 10)
		args = append(args, "--memory="+n, "--memory-swap="+n)
	}
	for _, kv := range task.Env {
		args = append(args, "--env="+kv)
	}
	args = append(args, "--entrypoint", `["`+task.Argv[0]+`"]`, s.image)
	return append(args, task.Argv[1:]...)
}

// leaveOutArgs take away what is not wanted.
var leaveOutArgs = map[string]string{
	engine.OwnCgroup:       "--cgroups=disabled",
	engine.MaskedPaths:     "--security-opt=unmask=ALL",
	engine.PIDNamespace:    "--pid=host",
	engine.UTSNamespace:    "--uts=host",
	engine.IPCNamespace:    "--ipc=host",
	engine.CgroupNamespace: "--cgroupns=host",
	engine.AppArmor:        "--security-opt=apparmor=unconfined",
	engine.SELinux:         "--security-opt=label=disable",
}

// addArgs ask for what a container has only where it is asked for.
var addArgs = map[string][]string{
	engine.Terminal:        {"--tty"},
	engine.NoNewPrivileges: {"--security-opt=no-new-privileges"},
	engine.Rlimits:         {fmt.Sprintf("--ulimit=nofile=%d:%[1]d", engine.RlimitFiles), "--ulimit=core=0:0"},
	engine.OOMScore:        {fmt.Sprintf("--oom-score-adj=%d", engine.ScoreAdded)},
	engine.PublishedPort:   {"--publish=127.0.0.1::9"},
}

// inherited are the limits of this process that it may not raise, but for those that
// the container gets anyway.
func (s settings) inherited() (options []string) {
	for i := 0; i+1 < len(s.ulimits); i += 2 {
		if !s.adds.Has(engine.Rlimits) || !strings.HasPrefix(s.ulimits[i+1], "nofile=") {
			options = append(options, s.ulimits[i:i+2]...)
		}
	}
	return options
}

// graceSeconds is the grace period as podman takes it: whole seconds, a part
// of one counts as one.
func graceSeconds(s engine.Stop) string {
	return strconv.Itoa(int((s.Grace + time.Second - 1) / time.Second))
}

// steps are the commands of one life, and which of them carries the payload.
//
// The end of `podman run --rm` is the container's removal.
// By steps, start --attach has no return of its own before the container's
// end, so that there is no event started.
func (env *environment) steps(task engine.Task) (steps []clirun.Step, payload int) {
	p := env.p
	attached := clirun.Step{Begin: record.Request, End: record.Removed, Removes: true}
	switch {
	case env.bySteps:
		create := clirun.Step{Cmd: p.command(env.settings.args("create", task)...), Begin: record.Request, End: record.Created}
		attached = clirun.Step{Cmd: p.command("start", "--attach", task.Name), Begin: record.Start}
		steps, payload = append(steps, create, attached), 1
	case env.look != nil:
		attached.Cmd, attached.End = p.command(env.settings.args("run", task)...), ""
		steps = append(steps, attached)
	default:
		attached.Cmd = p.command(env.settings.args("run", task, "--rm")...)
		steps = append(steps, attached)
	}
	if task.Stop != nil {
		steps[payload].Cmd.Background = true
		stop := p.command("stop", "--time", graceSeconds(*task.Stop), task.Name)
		stop.Await = probe.AwaitReady
		steps = append(steps, clirun.Step{Cmd: stop, Begin: record.Stop, End: record.Stopped})
	}
	if env.bySteps && env.look == nil {
		remove := p.command("rm", "--volumes", task.Name)
		remove.Always = true // a payload's own exit status is no reason to keep it
		if task.Stop != nil {
			remove.Await = probe.AwaitContainerExit
		}
		steps = append(steps, clirun.Step{Cmd: remove, End: record.Removed})
	}
	return steps, payload
}
