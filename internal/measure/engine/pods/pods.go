// Package pods says how pods are asked for by Kubernetes' Container Runtime Interface, on
// this machine and from elsewhere.
//
// It is opinionated: what the kubelet asks for by default is asked for, so that a pod
// here is as a pod is in a cluster; and a payload is PID 1, as with every engine.
package pods

import (
	"strings"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
)

// Settings are how the pods of an environment are made.
type Settings struct {
	RunID      string
	HostNet    bool // else each pod has a network of its own
	Unconfined bool // without a seccomp profile
	Limits     engine.Limits
}

// namespaces are those of the kubelet's default: the pod's network and IPC, and a PID
// namespace for each container.
func (s Settings) namespaces() *v1.NamespaceOption {
	n := &v1.NamespaceOption{Network: v1.NamespaceMode_POD, Pid: v1.NamespaceMode_CONTAINER, Ipc: v1.NamespaceMode_POD}
	if s.HostNet {
		n.Network = v1.NamespaceMode_NODE
	}
	return n
}

func (s Settings) profile() *v1.SecurityProfile {
	if s.Unconfined {
		return &v1.SecurityProfile{ProfileType: v1.SecurityProfile_Unconfined}
	}
	return &v1.SecurityProfile{ProfileType: v1.SecurityProfile_RuntimeDefault}
}

// labels are ours and those that the kubelet sets, which servers name things by.
func (s Settings) labels(pod string) map[string]string {
	return map[string]string{engine.Label: s.RunID, "io.kubernetes.pod.name": pod,
		"io.kubernetes.pod.namespace": engine.Namespace, "io.kubernetes.pod.uid": pod}
}

// Sandbox is a pod's configuration: a namespace and a name that nobody else has, and a
// host name where the network, and so the UTS namespace, is its own.
func (s Settings) Sandbox(name string) *v1.PodSandboxConfig {
	c := &v1.PodSandboxConfig{Metadata: &v1.PodSandboxMetadata{Name: name, Uid: name, Namespace: engine.Namespace}, Labels: s.labels(name),
		Linux: &v1.LinuxPodSandboxConfig{SecurityContext: &v1.LinuxSandboxSecurityContext{NamespaceOptions: s.namespaces(), Seccomp: s.profile()}}}
	if !s.HostNet {
		c.Hostname = "plimsoll"
	}
	return c
}

// cpuPeriod is the period of CPU limits, in µs, as with every engine.
const cpuPeriod = 100_000

// Container is the configuration of the container for a task, which has this name in its
// pod. What it hides of /proc the kubelet asks for, and other engines do unasked.
func (s Settings) Container(task engine.Task, name string, image *v1.ImageSpec) *v1.ContainerConfig {
	r := &v1.LinuxContainerResources{}
	if s.Limits.CPUs > 0 {
		r.CpuPeriod, r.CpuQuota = cpuPeriod, int64(s.Limits.CPUs*cpuPeriod)
	}
	if n := s.Limits.MemoryBytes; n > 0 { // swap is taken away with the memory, as other engines do
		r.MemoryLimitInBytes, r.MemorySwapLimitInBytes = n, n
	}
	c := &v1.ContainerConfig{Metadata: &v1.ContainerMetadata{Name: name}, Image: image, Labels: s.labels(task.Name),
		Command: task.Argv[:1], Args: task.Argv[1:],
		Linux: &v1.LinuxContainerConfig{Resources: r, SecurityContext: &v1.LinuxContainerSecurityContext{
			NamespaceOptions: s.namespaces(), Seccomp: s.profile(), MaskedPaths: engine.HiddenPaths, ReadonlyPaths: engine.ReadonlyPaths}}}
	c.Labels["io.kubernetes.container.name"] = name
	for _, kv := range task.Env {
		k, v, _ := strings.Cut(kv, "=")
		c.Envs = append(c.Envs, &v1.KeyValue{Key: k, Value: v})
	}
	return c
}
