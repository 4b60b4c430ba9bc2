package cri

import (
	"path/filepath"
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/pods"
)

// settings is how an environment's pods are made.
type settings struct {
	pods.Settings
	image   *v1.ImageSpec
	handler string // empty: the server's default
	omits   engine.Omitted
	adds    engine.Omitted
	logs    string // the directory for the pods' log directories
	group   string // the control group of pods; empty: the server's choice
}

func settingsFor(spec engine.Spec, runID, handler, logs string) settings {
	return settings{handler: handler, omits: spec.Omitted(), adds: spec.Extra(), logs: logs,
		Settings: pods.Settings{RunID: runID, HostNet: spec.Level(engine.Network) == "host", Unconfined: spec.Level(engine.Seccomp) == "off", Limits: spec.Limits}}
}

// omit takes away the namespaces that a pod shall not have.
func (s settings) omit(n *v1.NamespaceOption) {
	if s.omits.Has(engine.PIDNamespace) {
		n.Pid = v1.NamespaceMode_NODE
	}
	if s.omits.Has(engine.IPCNamespace) {
		n.Ipc = v1.NamespaceMode_NODE
	}
}

// pod is the sandbox's configuration.
func (s settings) pod(name string) *v1.PodSandboxConfig {
	c := s.Sandbox(name)
	c.LogDirectory, c.Linux.CgroupParent = filepath.Join(s.logs, name), s.group
	s.omit(c.Linux.SecurityContext.NamespaceOptions)
	return c
}

// pingGroups lets every group of a pod's own network have an ICMP socket. It
// is one of the sysctls that Kubernetes counts as safe; a container's
// capabilities stay what the server gives by default, which is where servers
// differ: containerd's have NET_RAW, CRI-O's have not.
var pingGroups = map[string]string{"net.ipv4.ping_group_range": "0 2147483647"}

// podFor is the sandbox's configuration for a task.
func (s settings) podFor(task engine.Task, name string) *v1.PodSandboxConfig {
	c := s.pod(name)
	if task.ICMP && !s.HostNet { // the host's is not ours to set
		c.Linux.Sysctls = pingGroups
	}
	return c
}

// called is what a container and its log file are called in a pod.
type called struct{ container, log string }

// first is for the container that a pod is made for.
var first = called{container: "payload", log: "0.log"}

func (s settings) container(task engine.Task, n called, mounts []*v1.Mount) *v1.ContainerConfig {
	c := s.Container(task, n.container, s.image)
	c.LogPath, c.Mounts = n.log, mounts
	within := c.Linux.SecurityContext
	s.omit(within.NamespaceOptions)
	if s.omits.Has(engine.MaskedPaths) {
		within.MaskedPaths, within.ReadonlyPaths = nil, nil
	}
	if s.omits.Has(engine.Capabilities) {
		within.Capabilities = &v1.Capability{AddCapabilities: capabilityNames()}
	}
	within.NoNewPrivs = s.adds.Has(engine.NoNewPrivileges)
	if s.adds.Has(engine.OOMScore) {
		c.Linux.Resources.OomScoreAdj = engine.ScoreAdded
	}
	return c
}

// capabilityNames are our own as Kubernetes writes them.
func capabilityNames() (names []string) {
	for _, c := range engine.OwnCapabilities() {
		names = append(names, strings.TrimPrefix(c, "CAP_"))
	}
	return names
}
