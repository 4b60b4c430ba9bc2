package cri

import (
	"path/filepath"
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// settings is how an environment's pods are made.
type settings struct {
	image   *v1.ImageSpec
	runID   string
	handler string // empty: the server's default
	network string // "host", or the pod's own
	seccomp v1.SecurityProfile_ProfileType
	limits  engine.Limits
	omits   engine.Omitted
	adds    engine.Omitted
	logs    string // the directory for the pods' log directories
	group   string // the control group of pods; empty: the server's choice
}

func settingsFor(spec engine.Spec, runID, handler, logs string) settings {
	s := settings{runID: runID, handler: handler, limits: spec.Limits, omits: spec.Omitted(), adds: spec.Extra(), logs: logs,
		network: spec.Level(engine.Network), seccomp: v1.SecurityProfile_RuntimeDefault}
	if spec.Level(engine.Seccomp) == "off" {
		s.seccomp = v1.SecurityProfile_Unconfined
	}
	return s
}

// namespaces are those of the kubelet's default: the pod's network and IPC,
// and a PID namespace for each container, so that the payload is PID 1.
func (s settings) namespaces() *v1.NamespaceOption {
	n := &v1.NamespaceOption{Network: v1.NamespaceMode_POD, Pid: v1.NamespaceMode_CONTAINER, Ipc: v1.NamespaceMode_POD}
	if s.network == "host" {
		n.Network = v1.NamespaceMode_NODE
	}
	if s.omits.Has(engine.PIDNamespace) {
		n.Pid = v1.NamespaceMode_NODE
	}
	if s.omits.Has(engine.IPCNamespace) {
		n.Ipc = v1.NamespaceMode_NODE
	}
	return n
}

// labels are ours and those that the kubelet sets, which servers name things by.
func (s settings) labels(pod string, more ...string) map[string]string {
	l := map[string]string{engine.Label: s.runID, "io.kubernetes.pod.name": pod,
		"io.kubernetes.pod.namespace": engine.Namespace, "io.kubernetes.pod.uid": pod}
	for _, name := range more {
		l["io.kubernetes.container.name"] = name
	}
	return l
}

// pod is the sandbox's configuration: a namespace and a name that nobody else
// has, and a host name where the network, and so the UTS namespace, is its own.
func (s settings) pod(name string) *v1.PodSandboxConfig {
	c := &v1.PodSandboxConfig{
		Metadata:     &v1.PodSandboxMetadata{Name: name, Uid: name, Namespace: engine.Namespace},
		LogDirectory: filepath.Join(s.logs, name),
		Labels:       s.labels(name),
		Linux: &v1.LinuxPodSandboxConfig{CgroupParent: s.group, SecurityContext: &v1.LinuxSandboxSecurityContext{
			NamespaceOptions: s.namespaces(), Seccomp: &v1.SecurityProfile{ProfileType: s.seccomp},
		}},
	}
	if s.network != "host" {
		c.Hostname = "plimsoll"
	}
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
	if task.ICMP && s.network != "host" { // the host's is not ours to set
		c.Linux.Sysctls = pingGroups
	}
	return c
}

// called is what a container and its log file are called in a pod.
type called struct{ container, log string }

// first is for the container that a pod is made for.
var first = called{container: "payload", log: "0.log"}

// cpuPeriod is the period of CPU limits, in µs, as with every engine.
const cpuPeriod = 100_000

func (s settings) container(task engine.Task, n called, mounts []*v1.Mount) *v1.ContainerConfig {
	c := &v1.ContainerConfig{
		Metadata: &v1.ContainerMetadata{Name: n.container},
		Image:    s.image,
		Command:  task.Argv[:1], Args: task.Argv[1:],
		Labels:  s.labels(task.Name, n.container),
		LogPath: n.log,
		Mounts:  mounts,
		Linux: &v1.LinuxContainerConfig{
			Resources: &v1.LinuxContainerResources{},
			SecurityContext: &v1.LinuxContainerSecurityContext{
				NamespaceOptions: s.namespaces(), Seccomp: &v1.SecurityProfile{ProfileType: s.seccomp},
				// What the kubelet asks for, and other engines do unasked.
				MaskedPaths: engine.HiddenPaths, ReadonlyPaths: engine.ReadonlyPaths,
			},
		},
	}
	if s.omits.Has(engine.MaskedPaths) {
		c.Linux.SecurityContext.MaskedPaths, c.Linux.SecurityContext.ReadonlyPaths = nil, nil
	}
	if s.omits.Has(engine.Capabilities) {
		c.Linux.SecurityContext.Capabilities = &v1.Capability{AddCapabilities: capabilityNames()}
	}
	c.Linux.SecurityContext.NoNewPrivs = s.adds.Has(engine.NoNewPrivileges)
	if s.adds.Has(engine.OOMScore) {
		c.Linux.Resources.OomScoreAdj = engine.ScoreAdded
	}
	for _, kv := range task.Env {
		k, v, _ := strings.Cut(kv, "=")
		c.Envs = append(c.Envs, &v1.KeyValue{Key: k, Value: v})
	}
	r := c.Linux.Resources
	if s.limits.CPUs > 0 {
		r.CpuPeriod, r.CpuQuota = cpuPeriod, int64(s.limits.CPUs*cpuPeriod)
	}
	if s.limits.MemoryBytes > 0 {
		// Swap is taken away with the memory, as other engines do.
		r.MemoryLimitInBytes, r.MemorySwapLimitInBytes = s.limits.MemoryBytes, s.limits.MemoryBytes
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
