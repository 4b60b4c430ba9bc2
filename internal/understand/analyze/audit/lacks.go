package audit

import "strings"

// Part is a part of the isolation that a container usually has: a namespace of its own,
// or a filter of what it may ask the kernel for.
type Part struct {
	Word  string // what a table has: the kernel's name of the namespace or filter
	Key   string // the property
	Title string // what it isolates, in plain words
}

// usual are the parts that `docker run` gives a container.
var usual = []Part{
	{"mnt", "ns.mnt", "mounts"}, {"pid", "ns.pid", "processes"}, {"net", "ns.net", "network"},
	{"ipc", "ns.ipc", "IPC"}, {"uts", "ns.uts", "host name"}, {seccomp, "seccomp-mode", "seccomp filter"},
	{caps, "capabilities", "capability limits"}, {"mac", accessControl, "access control"},
}

const seccomp, caps = "seccomp", "caps"

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
	for _, p := range usual {
		v := e.Isolation[p.Key]
		switch {
		case strings.HasPrefix(p.Key, "ns.") && v == "host", p.Word == seccomp && v == "0", p.Key == accessControl && v == unconfined:
			lacks = append(lacks, p)
		case p.Word == caps && e.Isolation["ns.user"] == "host":
			if n, ok := capabilities(v); ok && n > many {
				lacks = append(lacks, p)
			}
		}
	}
	return lacks, true
}

// Listed are the words of some parts, for a table.
func Listed(parts []Part) string {
	var words []string
	for _, p := range parts {
		words = append(words, p.Word)
	}
	return strings.Join(words, " ")
}
