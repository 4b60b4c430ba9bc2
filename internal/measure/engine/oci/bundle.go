package oci

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	specs "github.com/opencontainers/runtime-spec/specs-go"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
)

// bundle is what a container's config.json is made of.
type bundle struct {
	root     string // the image's root directory, shared and mounted read-only
	argv     []string
	env      []string
	hostname string
	hostNet  bool
	limits   engine.Limits
	cgroup   string // path of the container's cgroup
	cgroupNS bool
	mounts   []engine.Mount
	shared   string // a directory of the host's, mounted with other ids where that is asked for
	netPath  string // a network namespace to join, or ""
	omits    engine.Omitted
	adds     engine.Omitted
}

// write makes the bundle's directory with its config.json.
func (b bundle) write(dir string) error {
	text, err := json.Marshal(b.config())
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing the bundle %s: %w", dir, err)
	}
	return nil
}

// config is a container as docker makes one by default, as far as a runtime is
// concerned: same namespaces, mounts, capabilities, masked paths and devices.
// What a manager adds is left out: seccomp and AppArmor profiles, networks,
// and resource limits of the process (rlimits), which a runtime in a machine
// without CAP_SYS_RESOURCE could not raise.
func (b bundle) config() *specs.Spec {
	s := &specs.Spec{
		Version:  specVersion,
		Hostname: b.hostname,
		Root:     &specs.Root{Path: b.root, Readonly: true},
		Process:  process(b.argv, b.env),
		Mounts:   append(slices.Clone(mounts), b.further()...),
		Linux: &specs.Linux{
			CgroupsPath:   b.cgroup,
			MaskedPaths:   engine.HiddenPaths,
			ReadonlyPaths: engine.ReadonlyPaths,
			Resources:     b.resources(),
			Namespaces:    []specs.LinuxNamespace{{Type: specs.MountNamespace}},
		},
	}
	b.leaveOut(s)
	b.add(s)
	if !b.hostNet {
		s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: specs.NetworkNamespace, Path: b.netPath})
	}
	if b.cgroupNS && !b.omits.Has(engine.CgroupNamespace) {
		s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: specs.CgroupNamespace})
	}
	return s
}

// leaveOut takes away what is not wanted, and adds the namespaces that are.
func (b bundle) leaveOut(s *specs.Spec) {
	for _, n := range []struct {
		mechanism string
		kind      specs.LinuxNamespaceType
	}{{engine.PIDNamespace, specs.PIDNamespace}, {engine.UTSNamespace, specs.UTSNamespace}, {engine.IPCNamespace, specs.IPCNamespace}} {
		if !b.omits.Has(n.mechanism) {
			s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: n.kind})
		}
	}
	if b.omits.Has(engine.UTSNamespace) {
		s.Hostname = ""
	}
	if b.omits.Has(engine.MaskedPaths) {
		s.Linux.MaskedPaths, s.Linux.ReadonlyPaths = nil, nil
	}
	if b.omits.Has(engine.Capabilities) {
		all := engine.OwnCapabilities()
		s.Process.Capabilities = &specs.LinuxCapabilities{Bounding: all, Effective: all, Permitted: all}
	}
	if b.omits.Has(engine.SmallMounts) {
		s.Mounts = append(slices.Clone(mounts[:2]), b.further()...)
	}
	if b.omits.Has(engine.OwnCgroup) {
		s.Linux.CgroupsPath, s.Linux.Resources = "", nil
	}
}

// add asks for what a container has only where it is asked for. The ids of its user
// namespace are the host's, so that the image's files keep their owner.
func (b bundle) add(s *specs.Spec) {
	s.Process.NoNewPrivileges = b.adds.Has(engine.NoNewPrivileges)
	if b.adds.Has(engine.Rlimits) {
		s.Process.Rlimits = []specs.POSIXRlimit{{Type: "RLIMIT_NOFILE", Hard: engine.RlimitFiles, Soft: engine.RlimitFiles}, {Type: "RLIMIT_CORE"}}
	}
	if b.adds.Has(engine.OOMScore) {
		score := engine.ScoreAdded
		s.Process.OOMScoreAdj = &score
	}
	if b.adds.Has(engine.UserNamespace) {
		same := []specs.LinuxIDMapping{{Size: 1 << 16}}
		s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: specs.UserNamespace})
		s.Linux.UIDMappings, s.Linux.GIDMappings = same, same
	}
}

// process is the payload, or one more program in the same container.
func process(argv, env []string) *specs.Process {
	return &specs.Process{
		Args: argv, Cwd: "/",
		Env: append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, env...),
		Capabilities: &specs.LinuxCapabilities{
			Bounding: capabilities, Effective: capabilities, Permitted: capabilities},
	}
}

// further are the mounts beside those that every container has. What is mounted with
// other ids lies below a trial's own.
func (b bundle) further() (out []specs.Mount) {
	if b.adds.Has(engine.IDMappedMount) {
		out = append(out, specs.Mount{Destination: image.WorkDir, Type: "bind", Source: b.shared, Options: []string{"bind", "rprivate", mappedIDs}})
	}
	return append(out, furtherMounts(b.mounts)...)
}

// mappedIDs is crun's option of a mount: root's files are those of the user 100000 inside,
// as where ordinary users' ids are mapped.
const mappedIDs = "idmap=uids=0-100000-65536;gids=0-100000-65536"

// furtherMounts are a trial's own.
func furtherMounts(list []engine.Mount) []specs.Mount {
	var out []specs.Mount
	for _, m := range list {
		switch m.Kind {
		case engine.Bind:
			out = append(out, specs.Mount{Destination: m.Target, Type: "bind", Source: m.Source, Options: []string{"rbind", "rprivate", "rw"}})
		case engine.Tmpfs:
			options := []string{"nosuid", "nodev", "mode=1777"}
			if m.SizeBytes > 0 {
				options = append(options, "size="+strconv.FormatInt(m.SizeBytes, 10))
			}
			out = append(out, specs.Mount{Destination: m.Target, Type: "tmpfs", Source: "tmpfs", Options: options})
		}
	}
	return out
}

const period = uint64(100_000) // of the CPU quota, in µs; what docker uses

func (b bundle) resources() *specs.LinuxResources {
	r := &specs.LinuxResources{Devices: []specs.LinuxDeviceCgroup{{Allow: false, Access: "rwm"}}}
	if b.limits.CPUs > 0 {
		quota, p := int64(b.limits.CPUs*float64(period)), period
		r.CPU = &specs.LinuxCPU{Quota: &quota, Period: &p}
	}
	if b.limits.MemoryBytes > 0 {
		memory := b.limits.MemoryBytes
		r.Memory = &specs.LinuxMemory{Limit: &memory}
	}
	return r
}

// specVersion is what the oldest runtimes in use still accept; nothing newer
// is needed here.
const specVersion = "1.0.2"

// capabilities are docker's default ones.
var capabilities = []string{
	"CAP_AUDIT_WRITE", "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_MKNOD",
	"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_SETFCAP", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETUID", "CAP_SYS_CHROOT",
}

// mounts are docker's default ones, those first without which a program that is
// careful does not run.
var mounts = []specs.Mount{
	{Destination: "/proc", Type: "proc", Source: "proc", Options: []string{"nosuid", "noexec", "nodev"}},
	{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "strictatime", "mode=755", "size=65536k"}},
	{Destination: "/dev/pts", Type: "devpts", Source: "devpts",
		Options: []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"}},
	{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: []string{"nosuid", "noexec", "nodev", "ro"}},
	{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup", Options: []string{"ro", "nosuid", "noexec", "nodev"}},
	{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue", Options: []string{"nosuid", "noexec", "nodev"}},
	{Destination: "/dev/shm", Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "noexec", "nodev", "mode=1777", "size=65536k"}},
}
