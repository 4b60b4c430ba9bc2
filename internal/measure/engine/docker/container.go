package docker

import (
	"strconv"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// settings is how an environment's containers are made: the same for both
// clients, and read back from the live container when it is opened.
type settings struct {
	image   string // its tag
	runID   string
	runtime string // the daemon's name for it; empty: not named
	network string // empty: not named
	seccomp string // "off", or empty
	limits  engine.Limits
	omits   engine.Omitted
	adds    engine.Omitted
	log     string // the driver that the daemon's configuration of a build names
}

func settingsFor(spec engine.Spec, runID, tag, runtime string) settings {
	s := settings{image: tag, runID: runID, limits: spec.Limits, omits: spec.Omitted(), adds: spec.Extra()}
	if spec.Level(engine.Runtime) != engine.DefaultLevel {
		s.runtime = runtime
	}
	if l := spec.Level(engine.Network); l != engine.DefaultLevel {
		s.network = l
	}
	if spec.Level(engine.Seccomp) == "off" {
		s.seccomp = "off"
	}
	return s
}

// logDriver is the same for every engine: output goes to whoever is attached
// and is not written to a file. As a mechanism of its own it can be.
const logDriver = "none"

// logDriver is the one that is asked for.
func (s settings) logDriver() string {
	switch {
	case s.log != "":
		return s.log
	case s.adds.Has(engine.LogFile):
		return "json-file"
	case s.adds.Has(engine.Journal):
		return "journald"
	}
	return logDriver
}

// options are the settings for the API. Swap is taken away with the memory,
// so that the limit means the same as with every other engine; an init is
// refused, since the payload is PID 1 everywhere, whatever the daemon's
// default is.
func (s settings) options(task engine.Task) client.ContainerCreateOptions {
	noInit := false
	host := &container.HostConfig{
		LogConfig:   container.LogConfig{Type: s.logDriver()},
		NetworkMode: container.NetworkMode(s.networkOf(task)),
		Runtime:     s.runtime,
		Init:        &noInit,
		Mounts:      s.mounts(task),
	}
	if s.seccomp == "off" {
		host.SecurityOpt = []string{"seccomp=unconfined"}
	}
	s.leaveOut(host)
	config := &container.Config{
		Image: s.image, Entrypoint: task.Argv[:1], Cmd: task.Argv[1:], Env: task.Env,
		AttachStdout: true, AttachStderr: true,
		Labels: map[string]string{engine.Label: s.runID},
	}
	s.add(config, host)
	if s.limits.CPUs > 0 {
		host.NanoCPUs = int64(s.limits.CPUs * 1e9)
	}
	if n := s.limits.For(task).MemoryBytes; n > 0 {
		host.Memory, host.MemorySwap = n, n
	}
	return client.ContainerCreateOptions{Name: task.Name, Config: config, HostConfig: host}
}

// leaveOut takes away what is not wanted. Empty lists of paths are none; nil ones
// would be the daemon's own.
func (s settings) leaveOut(host *container.HostConfig) {
	if s.omits.Has(engine.MaskedPaths) {
		host.MaskedPaths, host.ReadonlyPaths = []string{}, []string{}
	}
	if s.omits.Has(engine.Capabilities) {
		host.CapAdd = engine.OwnCapabilities()
	}
	if s.omits.Has(engine.PIDNamespace) {
		host.PidMode = "host"
	}
	if s.omits.Has(engine.UTSNamespace) {
		host.UTSMode = "host"
	}
	if s.omits.Has(engine.IPCNamespace) {
		host.IpcMode = "host"
	}
	if s.omits.Has(engine.CgroupNamespace) {
		host.CgroupnsMode = "host"
	}
	if s.omits.Has(engine.AppArmor) {
		host.SecurityOpt = append(host.SecurityOpt, "apparmor=unconfined")
	}
	if s.omits.Has(engine.SELinux) {
		host.SecurityOpt = append(host.SecurityOpt, "label=disable")
	}
}

// leaveOutArgs do the same on the command line.
var leaveOutArgs = map[string][]string{
	engine.MaskedPaths:     {"--security-opt", "systempaths=unconfined"},
	engine.PIDNamespace:    {"--pid", "host"},
	engine.UTSNamespace:    {"--uts", "host"},
	engine.IPCNamespace:    {"--ipc", "host"},
	engine.CgroupNamespace: {"--cgroupns", "host"},
	engine.AppArmor:        {"--security-opt", "apparmor=unconfined"},
	engine.SELinux:         {"--security-opt", "label=disable"},
}

// args are the settings for the command line, after "docker run".
func (s settings) args(task engine.Task, more ...string) []string {
	args := append([]string{"run"}, more...)
	args = append(args, "--name", task.Name, "--label", engine.Label+"="+s.runID,
		"--pull", "never", "--log-driver", s.logDriver(), "--init="+strconv.FormatBool(s.adds.Has(engine.Init)))
	if s.runtime != "" {
		args = append(args, "--runtime", s.runtime)
	}
	if network := s.networkOf(task); network != "" {
		args = append(args, "--network", network)
	}
	args = append(args, s.mountArgs(task)...)
	if s.seccomp == "off" {
		args = append(args, "--security-opt", "seccomp=unconfined")
	}
	for _, m := range mechanisms {
		if m.Factor == engine.Without && s.omits.Has(m.Name) {
			args = append(args, leaveOutArgs[m.Name]...)
		}
		if m.Factor == engine.With && s.adds.Has(m.Name) {
			args = append(args, addArgs[m.Name]...)
		}
	}
	if s.omits.Has(engine.Capabilities) {
		for _, c := range engine.OwnCapabilities() {
			args = append(args, "--cap-add", c)
		}
	}
	if s.limits.CPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(s.limits.CPUs, 'f', -1, 64))
	}
	if l := s.limits.For(task); l.MemoryBytes > 0 {
		n := strconv.FormatInt(l.MemoryBytes, 10)
		args = append(args, "--memory", n, "--memory-swap", n)
	}
	for _, kv := range task.Env {
		args = append(args, "--env", kv)
	}
	args = append(args, "--entrypoint", task.Argv[0], s.image)
	return append(args, task.Argv[1:]...)
}
