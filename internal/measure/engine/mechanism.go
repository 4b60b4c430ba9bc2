package engine

import (
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/pkg/cap"
)

// Mechanism is something that an engine does at each start of a container and
// that can be taken away: left out, or exchanged for something that costs less.
// What it costs is the difference.
type Mechanism struct {
	// Name is the mechanism's, the same for all engines that have it.
	Name string
	// Factor is what takes it away: at the level To instead of From, DefaultLevel
	// being what the engine does by itself.
	Factor, From, To string
	// Title says what it is, and Price what its user gives up without it.
	Title, Price string
}

// The mechanisms that the factor Without leaves out.
const (
	MaskedPaths     = "masked-paths"
	Capabilities    = "capabilities"
	PIDNamespace    = "pid-namespace"
	UTSNamespace    = "uts-namespace"
	IPCNamespace    = "ipc-namespace"
	CgroupNamespace = "cgroup-namespace"
	OwnCgroup       = "control-group"
	PivotRoot       = "pivot-root"
	Keyring         = "keyring"
	SmallMounts     = "small-mounts"
	UserNamespace   = "user-namespace"
)

// whatItIs says of each mechanism what it is and what its user gives up.
var whatItIs = map[string][2]string{
	MaskedPaths:     {"masked and read-only paths below /proc and /sys", "a container of root's can then write to the kernel's settings"},
	Capabilities:    {"dropping capabilities", "root in the container then has all that the host's root has"},
	PIDNamespace:    {"a PID namespace", "the container then sees the host's processes and can signal them"},
	UTSNamespace:    {"a UTS namespace", "the container then has the host's name"},
	IPCNamespace:    {"an IPC namespace", "the container then shares the host's shared memory and semaphores"},
	CgroupNamespace: {"a cgroup namespace", "the container then sees the host's control groups"},
	OwnCgroup:       {"a control group", "the container can then be neither limited nor accounted for"},
	PivotRoot:       {"pivot_root instead of chroot", "a process of root's can then leave the container's file system"},
	Keyring:         {"a session keyring", "the container then shares the keyring of who started it"},
	SmallMounts:     {"/dev/pts, /dev/shm, /dev/mqueue, /sys and /sys/fs/cgroup", "programs that need them do not work"},
	UserNamespace:   {"a user namespace", "root in the container is then the host's root"},
}

// exchanges are those that are made by another level of a factor.
var exchanges = map[[2]string]Mechanism{
	{Client, "api"}:      {Name: "client", Title: "a client's program for each command, instead of a connection that is open", Price: "a program must then speak the engine's API"},
	{Client, "run"}:      {Name: "client", Title: "three commands instead of one", Price: "the phases can then not be told apart"},
	{Client, "execute"}:  {Name: "client", Title: "three commands instead of one", Price: "the phases can then not be told apart"},
	{Network, "none"}:    {Name: "network", Title: "the engine's network", Price: "the container is then reached by nobody, and reaches nobody"},
	{Network, "host"}:    {Name: "network-namespace", Title: "a network namespace", Price: "the container then shares the host's addresses and ports"},
	{Seccomp, "off"}:     {Name: "seccomp", Title: "a seccomp filter", Price: "the container can then use every system call of the kernel"},
	{Privileged, "yes"}:  {Name: UserNamespace, Title: "a user namespace", Price: "root in the container is then the host's root"},
	{Storage, "sandbox"}: {Name: "image-format", Title: "an image in one file, instead of a directory", Price: "the image is then thousands of files"},
}

// LeftOut are mechanisms that the factor Without takes away, in the order in
// which the adapter tells them: from the outside in.
func LeftOut(names ...string) []Mechanism {
	var out []Mechanism
	for _, n := range names {
		out = append(out, Mechanism{Name: n, Factor: Without, From: DefaultLevel, To: n, Title: whatItIs[n][0], Price: whatItIs[n][1]})
	}
	return out
}

// Exchanged is the mechanism that a factor's level takes away.
func Exchanged(factor, from, to string) Mechanism {
	m := exchanges[[2]string{factor, to}]
	switch {
	case factor == Network && from == DefaultLevel && to == "host": // there is nothing between
		m.Name, m.Title = exchanges[[2]string{Network, "none"}].Name, exchanges[[2]string{Network, "none"}].Title
	case m.Name != "":
	case factor == Runtime:
		m = Mechanism{Name: Runtime, Title: from + " instead of " + to, Price: "whatever else the two runtimes do differently"}
	case from == "squashfs":
		m = exchanges[[2]string{Storage, "sandbox"}]
	default: // a directory instead of an overlay
		m = Mechanism{Name: "layer", Title: "a layer of its own to write in, over the image", Price: "the container then writes into the image, or not at all"}
	}
	m.Factor, m.From, m.To = factor, from, to
	return m
}

// WithoutLevels are the levels of the factor Without for what an adapter can leave
// out. Any of them may be joined to others.
func WithoutLevels(mechanisms []Mechanism) []string {
	out := []string{DefaultLevel}
	for _, m := range mechanisms {
		if m.Factor == Without {
			out = append(out, m.To)
		}
	}
	return out
}

// And joins mechanisms that are left out together to one level.
const And = "+"

// Parts are the levels of which a level is made: of the factors Without and Tuned
// several may be joined.
func Parts(factor, level string) []string {
	if factor != Without && factor != Tuned {
		return []string{level}
	}
	return strings.Split(level, And)
}

// OwnKernel is the rule for runtimes that bring a kernel of their own: what they
// do for a container is not the host's kernel's work.
func OwnKernel(mechanisms []Mechanism, runtimes ...string) Rule {
	return Rule{When: map[string][]string{Runtime: runtimes, Without: WithoutLevels(mechanisms)[1:]},
		Because: "This runtime's containers have a kernel of their own, in which the host's mechanisms are not what a start is made of.",
		Source:  "https://gvisor.dev/docs/architecture_guide/intro/"}
}

// KnownCapabilities are the bits of those capabilities that every engine in use
// knows: older ones refuse the three of Linux 5.8 and 5.9 (CAP_PERFMON, CAP_BPF,
// CAP_CHECKPOINT_RESTORE; include/uapi/linux/capability.h).
const KnownCapabilities = 1<<38 - 1

// OwnCapabilities are those that this process may give, of KnownCapabilities: what
// a container without the mechanism Capabilities has. An engine's word for all of
// them is refused where the machine's root has not all.
func OwnCapabilities() []string {
	own, err := cap.Current()
	if err != nil {
		return nil // the proof says that they were dropped
	}
	return slices.DeleteFunc(own, func(c string) bool {
		return c == "CAP_PERFMON" || c == "CAP_BPF" || c == "CAP_CHECKPOINT_RESTORE"
	})
}

// Omitted are the mechanisms that are left out; nil is none.
type Omitted []string

// Has says whether a mechanism is left out.
func (o Omitted) Has(mechanism string) bool { return slices.Contains(o, mechanism) }

// Omitted are those that a spec leaves out.
func (s Spec) Omitted() Omitted { return Parts(Without, s.Level(Without)) }

// Omits says whether a mechanism is left out.
func (s Spec) Omits(mechanism string) bool { return s.Omitted().Has(mechanism) }
