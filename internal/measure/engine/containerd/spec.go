package containerd

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/contrib/seccomp"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/oci"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
)

// settings is how an environment's containers are made, read back from the
// live container when it is opened.
type settings struct {
	image       client.Image
	imageEnv    []string
	snapshotter string
	runID       string
	shim        string
	options     any    // of the shim
	program     string // what the options name as the runtime, for ctr
	config      string // the shim's configuration file, for ctr
	hostNet     bool
	seccompOff  bool
	systemd     bool
	cgroupNS    bool
	swapToo     bool // swap can be taken away with the memory, as Docker does
	limits      engine.Limits
	omits       engine.Omitted
	adds        engine.Omitted
}

// specVersion is the oldest that has all that is asked for: crun before 1.9
// refuses newer ones.
const specVersion = "1.0.2"

// container are the options of a container record, and with it of its
// snapshot and its configuration. netns, where given, is the network namespace
// that it joins.
func (s *settings) container(task engine.Task, netns string) []client.NewContainerOpts {
	spec := append(s.spec(task), oci.WithMounts(mounts(task.Mounts)))
	if netns != "" {
		spec = append(spec, oci.WithLinuxNamespace(specs.LinuxNamespace{Type: specs.NetworkNamespace, Path: netns}))
	}
	return []client.NewContainerOpts{
		client.WithImage(s.image),
		client.WithSnapshotter(s.snapshotter),
		client.WithNewSnapshot(task.Name, s.image),
		client.WithContainerLabels(map[string]string{engine.Label: s.runID}),
		client.WithRuntime(s.shim, s.options),
		client.WithNewSpec(spec...),
	}
}

// spec is containerd's default configuration, brought to Docker's where they
// differ: /sys/fs/cgroup is there, /run is the image's, new privileges may be
// had, and the limits of open files are the daemon's.
//
// The image's user and groups are not looked up, for which a client mounts the
// image in its own namespace: our images run as root.
func (s *settings) spec(task engine.Task) []oci.SpecOpts {
	opts := []oci.SpecOpts{
		oci.WithDefaultUnixDevices, oci.WithoutRunMount, oci.WithNewPrivileges,
		oci.WithHostname(hostname(task.Name)), oci.WithCgroup(s.cgroup(task.Name)),
		oci.WithEnv(s.imageEnv), oci.WithEnv(task.Env), oci.WithProcessArgs(task.Argv...),
		oci.WithMounts([]specs.Mount{{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup",
			Options: []string{"ro", "nosuid", "noexec", "nodev"}}}),
		asDocker,
	}
	if s.hostNet {
		opts = append(opts, oci.WithHostNamespace(specs.NetworkNamespace))
	}
	opts = append(opts, s.leaveOut()...)
	opts = append(opts, s.add()...)
	if s.cgroupNS && !s.omits.Has(engine.CgroupNamespace) {
		opts = append(opts, oci.WithLinuxNamespace(specs.LinuxNamespace{Type: specs.CgroupNamespace}))
	}
	if !s.seccompOff {
		opts = append(opts, seccomp.WithDefaultProfile()) // it depends on the capabilities
	}
	if n := s.limits.For(task).MemoryBytes; n > 0 {
		opts = append(opts, oci.WithMemoryLimit(uint64(n)))
		if s.swapToo {
			opts = append(opts, oci.WithMemorySwap(n))
		}
	}
	if s.limits.CPUs > 0 {
		const period = 100_000
		opts = append(opts, oci.WithCPUCFS(int64(s.limits.CPUs*period), period))
	}
	return opts
}

// add asks for what a container has only where it is asked for.
func (s *settings) add() (opts []oci.SpecOpts) {
	if s.adds.Has(engine.NoNewPrivileges) {
		opts = append(opts, oci.WithNoNewPrivileges)
	}
	if s.adds.Has(engine.Rlimits) {
		opts = append(opts, changed(func(s *oci.Spec) {
			s.Process.Rlimits = []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Hard: engine.RlimitFiles, Soft: engine.RlimitFiles}, {Type: "RLIMIT_CORE"}}
		}))
	}
	if s.adds.Has(engine.OOMScore) {
		opts = append(opts, changed(func(s *oci.Spec) {
			score := engine.ScoreAdded
			s.Process.OOMScoreAdj = &score
		}))
	}
	return opts
}

// changed is a change of the configuration for which the library has no option.
func changed(change func(*oci.Spec)) oci.SpecOpts {
	return func(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
		change(s)
		return nil
	}
}

// withoutSmallMounts leaves /proc, /dev and what the trial asks for.
func withoutSmallMounts(s *oci.Spec) {
	s.Mounts = slices.DeleteFunc(s.Mounts, func(m specs.Mount) bool {
		return strings.HasPrefix(m.Destination, "/dev/") || strings.HasPrefix(m.Destination, "/sys")
	})
}

// leaveOut takes away what is not wanted.
func (s *settings) leaveOut() (opts []oci.SpecOpts) {
	if s.omits.Has(engine.MaskedPaths) {
		opts = append(opts, oci.WithMaskedPaths(nil), oci.WithReadonlyPaths(nil))
	}
	if s.omits.Has(engine.SmallMounts) {
		opts = append(opts, changed(withoutSmallMounts))
	}
	if s.omits.Has(engine.Capabilities) {
		opts = append(opts, oci.WithCapabilities(engine.OwnCapabilities()))
	}
	if s.omits.Has(engine.PIDNamespace) {
		opts = append(opts, oci.WithHostNamespace(specs.PIDNamespace))
	}
	if s.omits.Has(engine.IPCNamespace) {
		opts = append(opts, oci.WithHostNamespace(specs.IPCNamespace))
	}
	if s.omits.Has(engine.UTSNamespace) {
		opts = append(opts, oci.WithHostNamespace(specs.UTSNamespace), oci.WithHostname(""))
	}
	return opts
}

// cgroup is a container's, at the top of the hierarchy: one below a group of
// ours would leave that behind.
func (s *settings) cgroup(name string) string {
	if s.systemd {
		return "system.slice:plimsoll:" + name
	}
	return "/" + name
}

func asDocker(_ context.Context, _ oci.Client, _ *containers.Container, s *oci.Spec) error {
	s.Version = specVersion
	s.Process.Rlimits = nil
	return nil
}

// hostname is at most what the kernel takes.
func hostname(name string) string {
	return name[:min(len(name), 63)]
}

// cgroupNamespaces: on v2 containers have a namespace of their own, as Docker
// and ctr do it.
func cgroupNamespaces() bool {
	if cgroup.Version() != "v2" {
		return false
	}
	_, err := os.Stat("/proc/self/ns/cgroup")
	return err == nil
}

// limitsSwap says whether the kernel can limit swap: v1 may have been booted
// without its account.
func limitsSwap() bool {
	if cgroup.Version() == "v2" {
		return true
	}
	_, err := os.Stat("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes")
	return err == nil
}
