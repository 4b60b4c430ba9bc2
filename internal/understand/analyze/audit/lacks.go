package audit

import "strings"

// Part is a part of the isolation that a container usually has: a namespace of its own,
// or a filter of what it may ask the kernel for.
type Part struct {
	Letter string // as in the audit's table
	Key    string // the property
	Title  string // what it isolates, in plain words
	Hint   string // what its letter is from, where the title does not say it
}

// Usual are the parts that `docker run` gives a container.
var Usual = []Part{
	{"m", "ns.mnt", "mounts", ""}, {"p", "ns.pid", "processes", ""}, {"n", "ns.net", "network", ""},
	{"i", "ns.ipc", "IPC", ""}, {"u", "ns.uts", "host name", " (UTS)"}, {"s", "seccomp-mode", "seccomp filter", ""},
	{"c", "capabilities", "capability limits", ""}, {"a", accessControl, "access control", " (AppArmor, SELinux)"},
}

// many is how many capabilities are nearly all that the host's root has; engines leave
// a container 14 or fewer.
const many = 30

// Lacks are the usual parts that an environment goes without, as its payload saw it;
// false where that is not known, and of a baseline, which is no container. A guest's
// kernel isolates by itself.
func (e *Environment) Lacks() (lacks []Part, known bool) {
	switch {
	case e == nil || e.baseline || e.Isolation["ns.pid"] == "":
		return nil, false
	case e.Guest:
		return nil, true
	}
	for _, p := range Usual {
		v := e.Isolation[p.Key]
		switch {
		case strings.HasPrefix(p.Key, "ns.") && v == "host", p.Letter == "s" && v == "0", p.Key == accessControl && v == unconfined:
			lacks = append(lacks, p)
		case p.Letter == "c" && e.Isolation["ns.user"] == "host":
			if n, ok := Capabilities(v); ok && n > many {
				lacks = append(lacks, p)
			}
		}
	}
	return lacks, true
}

// Letters are those of some parts.
func Letters(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Letter)
	}
	return b.String()
}
