package engine

import (
	"slices"
	"strings"

	"plimsoll/internal/common/dataimage"
)

// Mechanism is something that an engine does at each start of a container and
// that can be taken away: left out, or exchanged for something that costs less.
// What it costs is the difference. Where it Adds, the engine does not do it by
// itself and can be asked to: To then has it, and From has not.
type Mechanism struct {
	// Name is the mechanism's, the same for all engines that have it.
	Name string
	// Factor is what takes it away: at the level To instead of From, DefaultLevel
	// being what the engine does by itself.
	Factor, From, To string
	// Title says what it is, and Price what its user gives up without it; of what is
	// added, what its user gets.
	Title, Price string
	Adds         bool
	// Foreground: at To the engine's client stays with the container, so that no
	// container can be held without a process of ours.
	Foreground bool
	// Beside is what is added both to what has the mechanism and to what has not, a level
	// of the factor With. A setting of a daemon is told by two daemons of ours, and has no
	// place among what is taken away from the user's.
	Beside string
	// ByName: it is taken away only where its name asks for it, since its user could
	// lose something by it.
	ByName bool
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
	NameFiles       = "name-files"
	HostMounts      = "host-mounts"
	PasswdFiles     = "passwd-files"
	AppArmor        = "apparmor"
	SELinux         = "selinux"
	PacketFilter    = "packet-filter"
	UserlandProxy   = "userland-proxy"
	GroupMaking     = "group-making"
	Durability      = "durability"
)

// The mechanisms that the factor With adds, beside namespaces and user mappings.
const (
	Init            = "init"
	LogFile         = "log-file"
	Journal         = "journal"
	Terminal        = "terminal"
	NoNewPrivileges = "no-new-privileges"
	Rlimits         = "rlimits"
	OOMScore        = "oom-score"
	SomeLimits      = "limits"
	HealthCheck     = "health-check"
	PublishedPort   = "published-port"
	PrivateTmp      = "private-tmp"
	OwnHome         = "home"
	WritableLayer   = "writable-layer"
	Contained       = "contain"
	Volatile        = "volatile-overlay"
	OwnDaemon       = "own-daemon"
	IDMappedMount   = "id-mapped-mount"
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
	GroupMaking:     {"making the control group, which then is there before", "somebody must then make groups ahead of the containers"},
	PivotRoot:       {"pivot_root instead of chroot", "a process of root's can then leave the container's file system"},
	Keyring:         {"a session keyring", "the container then shares the keyring of who started it"},
	SmallMounts:     {"/dev/pts, /dev/shm, /dev/mqueue, /sys and /sys/fs/cgroup", "programs that need them do not work"},
	UserNamespace:   {"a user namespace", "root in the container is then the host's root"},
	NameFiles:       {"/etc/hosts and /etc/resolv.conf, made and mounted for each container", "the container then resolves names as its image says"},
	HostMounts:      {"mounts of the host's /tmp, home and other directories", "the container then has its image's alone"},
	AppArmor:        {"an AppArmor profile", "the container is then held by no rules of AppArmor's"},
	SELinux:         {"an SELinux label", "the container is then held by no rules of SELinux's"},
	Durability:      {"waiting until what the engine writes down is on the disk (fsync)", "a power cut may then lose what the engine has written down, and what the container has"},
	PasswdFiles:     {"/etc/passwd and /etc/group, made and mounted for each container", "the user then has no name inside"},
}

// whatIsAdded says the same of what an engine does only if it is asked to.
var whatIsAdded = map[string][2]string{
	PIDNamespace:    {"a PID namespace", "the container then sees its own processes alone"},
	IPCNamespace:    {"an IPC namespace", "the container then has shared memory of its own"},
	UTSNamespace:    {"a UTS namespace", "the container then has a host name of its own"},
	UserNamespace:   {"a user namespace", "root in the container is then root there alone"},
	Init:            {"an init as PID 1, the program below it", "orphans are then reaped, and signals handed on"},
	LogFile:         {"a file that keeps the output", "the engine then shows what was printed"},
	Journal:         {"the journal, which keeps the output", "the engine then shows what was printed"},
	Terminal:        {"a terminal for the program", "programs that need one then work"},
	NoNewPrivileges: {"no_new_privs", "set-uid programs inside then give nobody more rights"},
	Rlimits:         {"limits of the process (open files, core files)", "a program can then not open files without end"},
	OOMScore:        {"a score for the kernel's choice when memory is short", "the container is then ended before or after others"},
	SomeLimits:      {"limits of a processor and 1 GiB", "the container can then take no more"},
	HealthCheck:     {"a health check every 30 s", "the engine then knows whether the program still answers"},
	PublishedPort:   {"a port published on the host's loopback", "the container is then reached from the host"},
	PrivateTmp:      {"a /tmp of its own", "the container then does not share the host's"},
	OwnHome:         {"the user's home directory", "the container then has the user's files"},
	WritableLayer:   {"a layer in memory to write in", "the container can then change its files"},
	Volatile:        {"an overlay that is never written out to the disk by itself", "writing and removing then wait for no disk; after a crash of the machine the container's files are lost"},
	IDMappedMount:   {"a directory of the host's, mounted with its ids mapped", "a user namespace can then share files without changing their owners"},
	OwnDaemon:       {"a private daemon of Plimsoll's instead of yours", "settings of the daemon can then be tried"},
	PacketFilter:    {"rules of the packet filter for each container", "containers are then reached through published ports and reach others by the host's address"},
	UserlandProxy:   {"a proxy process for each published port", "the port is then reached from the host itself where the packet filter can't forward"},
	Durability:      {"waiting until what the engine writes down is on the disk (fsync)", "a power cut then loses nothing of it"},
	Contained:       {"a minimal /dev, /tmp and home of its own", "the container then shares less of the host's"},
}

var inOneCommand = Mechanism{Name: "client", Title: "three commands instead of one", Price: "the phases can't be told apart then", Foreground: true}

// exchanges are those that are made by another level of a factor.
var exchanges = map[[2]string]Mechanism{
	{Client, "api"}:      {Name: "client", Title: "a client's program for each command, instead of a connection that is open", Price: "a program must then speak the engine's API"},
	{Client, "run"}:      inOneCommand,
	{Client, "execute"}:  inOneCommand,
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

// AskedFor is one of them that only its name asks for.
func AskedFor(name string) Mechanism {
	m := LeftOut(name)[0]
	m.ByName = true
	return m
}

// Added are mechanisms that the factor With adds.
func Added(names ...string) []Mechanism {
	var out []Mechanism
	for _, n := range names {
		out = append(out, Mechanism{Name: n, Factor: With, From: DefaultLevel, To: n, Title: whatIsAdded[n][0], Price: whatIsAdded[n][1], Adds: true})
	}
	return out
}

// OfDaemon is a mechanism that a setting of the daemon switches off, for all of its
// containers: it is asked for by name, of daemons of ours, with what is added beside it.
func OfDaemon(name string, beside ...string) Mechanism {
	what := whatIsAdded[name]
	return Mechanism{Name: name, Factor: Without, From: DefaultLevel, To: name, Title: what[0], Price: what[1], Adds: true,
		Beside: strings.Join(append([]string{OwnDaemon}, beside...), And)}
}

// dearer is another level of a factor that costs more than what the engine does by
// itself, and is had for what it gives.
func dearer(name, factor, from, to, title, gives string) Mechanism {
	return Mechanism{Name: name, Factor: factor, From: from, To: to, Title: title, Price: gives, Adds: true}
}

// Layered are images of several layers instead of one with the same files, for an
// engine that keeps them apart.
func Layered() (out []Mechanism) {
	const one = dataimage.Prefix + dataimage.Layers + "-1:payload"
	for _, n := range []string{"10", "100"} {
		out = append(out, dearer("layers-"+n, Image, one, strings.Replace(one, "-1:", "-"+n+":", 1),
			"an image of "+n+" layers instead of one with the same files", "images that have layers in common then share them"))
	}
	return out
}

// Filled are images that are larger than another one with as little else in them: in
// number of files, and in size.
func Filled() (out []Mechanism) {
	for _, i := range []struct{ name, kind, title, gives string }{
		{"files-10000", dataimage.Files, "an image of ten thousand small files instead of ten", "programs of many files then run"},
		{"size-46mb", dataimage.Archive, "an image with one file of 46 MB instead of 47 kB", "programs with large files then run"},
	} {
		of := func(n string) string { return dataimage.Prefix + i.kind + "-" + n + ":payload" }
		out = append(out, dearer(i.name, Image, of("10"), of("10000"), i.title, i.gives))
	}
	return out
}

// OtherRuntime is another runtime than the one that is taken by itself, which need not
// cost more.
func OtherRuntime(from, to string) Mechanism {
	return dearer(to, Runtime, from, to, to+" instead of "+from, "another runtime then does the same")
}

// BySystemd is the driver that lets systemd make the control groups.
func BySystemd() Mechanism {
	return dearer("systemd-driver", Driver, "cgroupfs", "systemd", "control groups made by systemd (over D-Bus) instead of by the runtime", "one program then keeps all control groups of the machine")
}

// Snapshots is btrfs, on a loop device where the engine's own storage lies elsewhere.
func Snapshots(overlay string) Mechanism {
	return dearer("btrfs", Storage, overlay, "btrfs", "a snapshot of btrfs for each container, instead of an overlay", "no overlay is then needed, and a file that is written to is not copied first")
}

// Copied is a copy of the image for each container, by a storage that shares nothing.
func Copied(overlay, copying string) Mechanism {
	return dearer("copied-image", Storage, overlay, copying,
		"a copy of the image for each container ("+copying+"), instead of an overlay over it", "no overlay is then needed")
}

// InOwnDaemon is a mechanism of which both sides are told by private daemons.
func InOwnDaemon(m Mechanism) Mechanism {
	m.Beside = OwnDaemon
	return m
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
func WithoutLevels(mechanisms []Mechanism) []string { return levelsOf(Without, mechanisms) }

// WithLevels are those of the factor With for what it can add.
func WithLevels(mechanisms []Mechanism) []string { return levelsOf(With, mechanisms) }

func levelsOf(factor string, mechanisms []Mechanism) []string {
	out := []string{DefaultLevel}
	for _, m := range mechanisms {
		if m.Factor == factor {
			out = append(out, m.To)
		}
	}
	return out
}

// And joins mechanisms that are left out, or added, together to one level.
const And = "+"

// Joined are the factors of which several levels may be joined.
var Joined = []string{Without, With, Tuned}

// Parts are the levels of which a level is made.
func Parts(factor, level string) []string {
	if !slices.Contains(Joined, factor) {
		return []string{level}
	}
	return strings.Split(level, And)
}

// OwnKernel are the rules for runtimes that bring a kernel of their own: what they
// do for a container is not the host's kernel's work.
func OwnKernel(mechanisms []Mechanism, runtimes ...string) (rules []Rule) {
	for _, factor := range Joined {
		if known := levelsOf(factor, mechanisms)[1:]; len(known) > 0 {
			rules = append(rules, Rule{When: map[string][]string{Runtime: runtimes, factor: known},
				Because: "This runtime's containers have a kernel of their own, in which the host's mechanisms are not what a start is made of.",
				Source:  "https://gvisor.dev/docs/architecture_guide/intro/"})
		}
	}
	return rules
}

// KnownCapabilities are the bits of those capabilities that every engine in use
// knows: older ones refuse the three of Linux 5.8 and 5.9 (CAP_PERFMON, CAP_BPF,
// CAP_CHECKPOINT_RESTORE; include/uapi/linux/capability.h).
const KnownCapabilities = 1<<38 - 1

// Omitted are the mechanisms that are left out, or added; nil is none.
type Omitted []string

// Has says whether a mechanism is one of them.
func (o Omitted) Has(mechanism string) bool { return slices.Contains(o, mechanism) }

// Omitted are those that a spec leaves out.
func (s Spec) Omitted() Omitted { return Parts(Without, s.Level(Without)) }

// Omits says whether a mechanism is left out.
func (s Spec) Omits(mechanism string) bool { return s.Omitted().Has(mechanism) }

// Extra are the mechanisms that a spec adds.
func (s Spec) Extra() Omitted { return Parts(With, s.Level(With)) }

// Adds says whether a mechanism is added.
func (s Spec) Adds(mechanism string) bool { return s.Extra().Has(mechanism) }

// LimitsAdded are what the mechanism SomeLimits puts on a container that has none
// otherwise.
var LimitsAdded = Limits{CPUs: 1, MemoryBytes: 1 << 30}

// Limiting is the spec with the limits that it adds as a mechanism.
func (s Spec) Limiting() Spec {
	if s.Adds(SomeLimits) && s.Limits == (Limits{}) {
		s.Limits = LimitsAdded
	}
	return s
}

// RlimitFiles is how many files the mechanism Rlimits lets a program open, and
// ScoreAdded what the mechanism OOMScore adds to its score: both can be had by
// anybody.
const (
	RlimitFiles = 512
	ScoreAdded  = 100
)

// The paths below /proc and /sys that Kubernetes, and engines that nobody asks, hide from a
// container that is not privileged, and those that it may only read: the same lists for every
// engine.
var (
	HiddenPaths = []string{"/proc/asound", "/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap"}
	ReadonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)
