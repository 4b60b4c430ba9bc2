//go:build linux

package host

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/host/proc"
)

// Item is something that is there now and was not before.
type Item struct {
	Kind   Kind
	Name   string
	Detail string // a process's command line and cgroup, a loop device's file
	Point  string // of a mount
	PID    int    // of a process
	// Ours says that it carries the run's name: see Residue.Ours.
	Ours bool
	// Certain says that it is reported as left behind. It is Proved, or Ours and
	// not a process that only mentions the run in its command line (a user's
	// editor or pager may): its control group is named like the run's, or it is a
	// Helper.
	Certain bool
	// Proved says that it may be removed, by a proof of the table Removals. A
	// name or an argument is not a proof.
	Proved bool
	// Helper says that it is a process whose program is called as one that engines
	// put next to a container.
	Helper bool
	// Start is a process's, which with PID tells it from a later one.
	Start string

	comm, cgroup, exe, root string // of a process
	parent                  int
	groups                  []string // its control groups, with their mount points
	machine                 Machine
}

// String is for people: whoever starts a process chooses its name and its
// command line.
func (i Item) String() string {
	s := string(i.Kind) + " " + i.Name
	if i.Detail != "" {
		s += ": " + i.Detail
	}
	return harmless.Text(s)
}

// Residue is what is new, sorted by kind and name.
type Residue []Item

// Since lists what this census has and the one before had not. Of a new
// process the command line is read now; one that has ended in the meantime is
// left out.
func (c *Census) Since(before *Census) Residue {
	var r Residue
	for kind, now := range c.items {
		for name, detail := range now {
			if _, had := before.items[kind][name]; had {
				continue
			}
			it := Item{Kind: kind, Name: name, Detail: detail}
			if kind == KindMount {
				it.Point = c.points[name]
			}
			if kind == KindProcess && !c.machine.describe(&it, c.hierarchies) {
				continue
			}
			r = append(r, it)
		}
	}
	slices.SortFunc(r, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.PID, b.PID), cmp.Compare(a.Name, b.Name))
	})
	return r
}

// describe fills in what a new process is; false when it is gone.
func (m Machine) describe(it *Item, hierarchies []proc.Hierarchy) bool {
	pid, start, _ := strings.Cut(it.Name, "@")
	dir := "/proc/" + pid
	n, _ := strconv.Atoi(pid)
	st, err := m.proc().Stat(n)
	if err != nil || st.StartText() != start {
		return false
	}
	it.PID, it.Name, it.comm, it.Start = st.PID, fmt.Sprintf("%d (%s)", st.PID, st.Comm), st.Comm, start
	it.exe, _ = os.Readlink(m.path(dir + "/exe"))
	it.root, _ = os.Readlink(m.path(dir + "/root"))
	it.parent, it.machine = st.PPID, m
	args, _ := m.proc().Argv(n)
	it.Detail = strings.Join(args, " ")
	if st.State == 'Z' {
		it.Detail = fmt.Sprintf("ended, not yet reaped by its parent %d", st.PPID)
	}
	if len(it.Detail) > 2000 {
		it.Detail = strings.ToValidUTF8(it.Detail[:2000], "") + "…"
	}
	groups, _ := m.proc().Groups(pid)
	for _, h := range hierarchies {
		it.groups = append(it.groups, groups.In(h)...)
	}
	var paths []string
	for _, g := range groups {
		if g.Path != "/" && !slices.Contains(paths, g.Path) {
			paths = append(paths, g.Path)
		}
	}
	if len(paths) > 0 {
		slices.Sort(paths)
		it.cgroup = strings.Join(paths, " ")
		it.Detail += " in cgroup " + it.cgroup
	}
	return true
}

// Marks are what a run is known by.
type Marks struct {
	RunID string
	// Dir is the run's own directory.
	Dir string
	// Mark is the variable that processes of the run inherit: see engine.Mark.
	Mark string
	// Names are the names of containers that the run's ledger lists. They find
	// what is to be reported, and prove nothing.
	Names []string
	// Paths are the mounts, control groups, network namespaces and links that
	// the ledger lists, and those that engines keep for what it lists, each at
	// its exact place.
	Paths []string
	// Helpers are the beginnings of the names of the processes that engines put
	// beside a container, as the kernel cuts them (15 bytes).
	Helpers []string
}

// Ours marks the items that carry the run's name: "plimsoll" and the run's id,
// or one of the further names, anywhere in name or detail, or a path below the
// run's directory. Everything else that is new may be anybody's and is information
// only. It gives the marked ones.
func (r Residue) Ours(m Marks) Residue {
	var words []string
	for _, n := range append(slices.Clone(m.Names), m.Paths...) {
		if len(n) >= minName {
			words = append(words, n)
		}
	}
	dir := ""
	if d := filepath.Clean(m.Dir); m.Dir != "" && d != "/" {
		dir = d
	}
	inDir := func(text string) bool { return dir != "" && holdsPath(text, dir) }
	named := func(text string) bool {
		return m.RunID != "" && strings.Contains(text, "plimsoll") && strings.Contains(text, m.RunID) ||
			slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	var ours Residue
	for i := range r {
		it := &r[i]
		text := it.Name + " " + it.Detail
		it.Ours = named(text) || inDir(text) || inDir(it.exe) || inDir(it.root)
		it.Helper = it.Kind == KindProcess && hasPrefixAny(it.comm, m.Helpers...)
		it.Proved = it.proved(m, dir)
	}
	r.inherit()
	for i := range r {
		it := &r[i]
		it.Certain = it.Proved || it.Ours && (it.Kind != KindProcess || it.Helper || named(it.cgroup))
		if it.Ours || it.Proved {
			ours = append(ours, *it)
		}
	}
	return ours
}

// holdsPath says whether the text has the path dir or one below it, and not
// just a longer name that begins alike.
func holdsPath(text, dir string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], dir)
		if i < 0 {
			return false
		}
		end := from + i + len(dir)
		if end == len(text) || strings.IndexByte(`/ ,:;)"'`, text[end]) >= 0 {
			return true
		}
		from = end
	}
}
