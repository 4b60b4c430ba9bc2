package audit

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/record"
)

// isolationOrder is the order in which the view from inside is shown.
var isolationOrder = []string{
	"ns.mnt", "ns.pid", "ns.net", "ns.ipc", "ns.uts", "ns.user", "ns.cgroup", "ns.time",
	"uid", "uid-map", "gid-map", "capabilities", "cap-bounding", "seccomp-mode", "no-new-privs", accessControl,
	"cgroup-path", "root", "kernel", "clock", "pid1",
	"cpu-limit", "memory-limit", "pids-limit", "rlimit.nofile", "rlimit.nproc",
}

// isolation is the view from inside as properties.
func isolation(in record.Inside) map[string]string {
	out := map[string]string{}
	put := func(key, value string) {
		if value = strings.TrimSpace(value); value != "" {
			out[key] = value
		}
	}
	for kind, whose := range in.Namespaces {
		put("ns."+kind, whose)
	}
	put("uid", strings.Trim(in.UID, ":"))
	put("uid-map", in.UIDMap)
	put("gid-map", in.GIDMap)
	put("capabilities", in.CapEff)
	put("cap-bounding", in.CapBnd)
	put("seccomp-mode", in.Seccomp)
	put("no-new-privs", in.NoNewPrivs)
	put("cgroup-path", oneCgroup(in.Cgroup))
	put("root", in.Root)
	put("kernel", in.Kernel)
	put("pid1", in.More["pid1"])
	put(accessControl, confinement(in.More["label"]))
	put("cpu-limit", cpuLimit(in.More))
	put("memory-limit", noneAt(cmp.Or(in.More["limit.memory.max"], in.More["limit.memory.limit_in_bytes"])))
	// "max" is the payload's own group's. What limits the groups above it can't be seen from
	// inside a cgroup namespace: systemd limits the scope, and crun makes a group below that.
	if pids := in.More["limit.pids.max"]; pids != "max" || in.Namespaces["cgroup"] != "own" {
		put("pids-limit", pids)
	}
	for k, v := range in.More {
		if strings.HasPrefix(k, "rlimit.") {
			put(k, v)
		}
	}
	return out
}

// accessControl is the property of what mandatory access control holds a process by:
// AppArmor's profile or SELinux's type.
const accessControl = "access-control"

// confinement reads a label as the kernel has it in /proc/self/attr/current: of AppArmor
// "PROFILE (MODE)" or "unconfined", where a profile in the mode unconfined holds nothing
// back; of SELinux "USER:ROLE:TYPE:LEVEL", whose level is drawn for each container. It is
// "" where the kernel has neither.
func confinement(label string) string {
	if f := strings.Split(label, ":"); len(f) >= 3 && !strings.Contains(label, " ") {
		label = f[2]
	}
	if label == "unconfined_t" || strings.HasSuffix(label, "(unconfined)") {
		return unconfined
	}
	return label
}

const unconfined = "unconfined"

// noneAt says "none" of a memory limit that is none: version 2 says "max", and
// version 1 a number near the largest.
func noneAt(limit string) string {
	if n, err := strconv.ParseUint(limit, 10, 64); limit == "max" || err == nil && n >= 1<<60 {
		return "none"
	}
	return limit
}

// cpuLimit is the quota over the period: of v2 in one file, of v1 in two.
func cpuLimit(more map[string]string) string {
	quota, period, ok := strings.Cut(more["limit.cpu.max"], " ")
	if !ok {
		quota, period = more["limit.cpu.cfs_quota_us"], more["limit.cpu.cfs_period_us"]
	}
	if quota == "max" || quota == "-1" {
		return "none"
	}
	q, qerr := strconv.ParseFloat(quota, 64)
	p, perr := strconv.ParseFloat(period, 64)
	if qerr != nil || perr != nil || p <= 0 {
		return ""
	}
	return strconv.FormatFloat(q/p, 'g', 4, 64)
}

// oneCgroup shortens the list of hierarchies where all have the same path.
func oneCgroup(s string) string {
	paths := map[string]bool{}
	last := ""
	for _, f := range strings.Fields(s) {
		if i := strings.LastIndexByte(f, '='); i >= 0 {
			last = f[i+1:]
			paths[last] = true
		}
	}
	if len(paths) == 1 {
		return last
	}
	return s
}

// capabilityNames are those of capabilities(7), by number, without CAP_.
var capabilityNames = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP
	LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO
	SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE
	AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON
	BPF CHECKPOINT_RESTORE`)

// capabilities says how many capabilities a set holds; false where the text is
// no set.
func capabilities(hex string) (int, bool) {
	v, err := strconv.ParseUint(hex, 16, 64)
	return bits.OnesCount64(v), err == nil
}

// capabilityNamesOf lists a set.
func capabilityNamesOf(set uint64) string {
	var names []string
	for i := range 64 {
		if set&(1<<i) == 0 {
			continue
		}
		if i < len(capabilityNames) {
			names = append(names, capabilityNames[i])
		} else {
			names = append(names, strconv.Itoa(i))
		}
	}
	return strings.Join(names, ", ")
}

// Describe says in words what the two have, kinds of namespaces together.
func Describe(ds []Difference) []string {
	var out []string
	var namespaces [2][]string // own against the host's, and the other way round
	at := -1
	for i, d := range ds {
		kind, ok := strings.CutPrefix(d.Key, "ns.")
		switch {
		case ok:
			if at < 0 {
				at = len(out)
			}
			k := 0
			if d.A != "own" {
				k = 1
			}
			namespaces[k] = append(namespaces[k], kind)
		case d.Key == "gid-map" && i > 0 && ds[i-1].Key == "uid-map":
			// It goes with the map of users.
		default:
			out = append(out, d.Text())
		}
	}
	for k, text := range []string{"own against the host's", "the host's against own"} {
		if len(namespaces[k]) > 0 {
			out = slices.Insert(out, at, "namespaces "+strings.Join(namespaces[k], ", ")+" "+text)
		}
	}
	return out
}

// Text says in words what the two have.
func (d Difference) Text() string {
	if d.Key == "capabilities" || d.Key == "cap-bounding" {
		a, aerr := strconv.ParseUint(d.A, 16, 64)
		b, berr := strconv.ParseUint(d.B, 16, 64)
		if aerr == nil && berr == nil {
			return fmt.Sprintf("%s %s against %s%s%s", d.Key, capCount(a), capCount(b),
				capMore(", the first has also ", a&^b), capMore(", the second has also ", b&^a))
		}
	}
	return fmt.Sprintf("%s %s against %s", d.Key, Words(d.Key, d.A), Words(d.Key, d.B))
}

// capMore lists capabilities where they are few enough to be read.
func capMore(lead string, set uint64) string {
	if n := bits.OnesCount64(set); n == 0 || n > 6 {
		return ""
	}
	return lead + capabilityNamesOf(set)
}

func capCount(set uint64) string { return strconv.Itoa(bits.OnesCount64(set)) }

// Words says a value for people.
func Words(key, value string) string {
	switch key {
	case "seccomp-mode":
		switch value {
		case "0":
			return "off"
		case "1":
			return "strict"
		case "2":
			return "filter"
		}
	case "no-new-privs":
		switch value {
		case "0":
			return "no"
		case "1":
			return "yes"
		}
	case "uid-map", "gid-map":
		if strings.Join(strings.Fields(value), " ") == "0 0 4294967295" {
			return "the host's"
		}
		return strings.ReplaceAll(value, ";", " and")
	case "memory-limit":
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			if n >= 1<<62 {
				return "none"
			}
			if n%(1<<20) == 0 {
				return strconv.FormatInt(n>>20, 10) + " MiB"
			}
		}
	case "capabilities", "cap-bounding":
		if n, ok := capabilities(value); ok {
			return strconv.Itoa(n)
		}
	}
	return value
}
