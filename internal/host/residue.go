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
)

// Item is something that is there now and was not before.
type Item struct {
	Kind   Kind
	Name   string
	Detail string // a process's command line and cgroup, a loop device's file
	PID    int    // of a process
	// Ours says that it carries the run's name: see Residue.Ours.
	Ours bool
}

func (i Item) String() string {
	s := string(i.Kind) + " " + i.Name
	if i.Detail != "" {
		s += ": " + i.Detail
	}
	return s
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
			if kind == KindProcess && !c.machine.describe(&it) {
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
func (m Machine) describe(it *Item) bool {
	pid, start, _ := strings.Cut(it.Name, "@")
	dir := "/proc/" + pid
	st, err := parsePidStat(m.text(dir + "/stat"))
	if err != nil || strconv.FormatUint(st.Start, 10) != start {
		return false
	}
	it.PID, it.Name = st.PID, fmt.Sprintf("%d (%s)", st.PID, st.Comm)
	raw, err := os.ReadFile(m.path(dir + "/cmdline"))
	if err == nil {
		it.Detail = strings.Join(parseCmdline(raw), " ")
	}
	if st.State == 'Z' {
		it.Detail = fmt.Sprintf("ended, not yet reaped by its parent %d", st.PPID)
	}
	if len(it.Detail) > 2000 {
		it.Detail = strings.ToValidUTF8(it.Detail[:2000], "") + "…"
	}
	if cg, err := parse(m, dir+"/cgroup", parseSelfCgroup); err == nil {
		var paths []string
		for _, p := range cg {
			if p != "/" && !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
		slices.Sort(paths)
		if len(paths) > 0 {
			it.Detail += " in cgroup " + strings.Join(paths, " ")
		}
	}
	return true
}

// Marks are what a run is known by.
type Marks struct {
	RunID string
	// Dir is the run's own directory.
	Dir string
	// Names are further names that the run has made and that do not carry its
	// id, such as the ids that engines gave to its containers.
	Names []string
}

// Ours marks the items that carry the run's name: "plimsoll" and the run's id,
// or one of the further names, anywhere in name or detail, or a path below the
// run's directory. Everything else that is new may be anybody's and is information
// only. It gives the marked ones.
func (r Residue) Ours(m Marks) Residue {
	var words []string
	for _, n := range m.Names {
		if len(n) >= 8 { // a shorter one would be found in anything
			words = append(words, n)
		}
	}
	dir := ""
	if m.Dir != "" {
		dir = filepath.Clean(m.Dir)
	}
	var ours Residue
	for i := range r {
		text := r[i].Name + " " + r[i].Detail
		r[i].Ours = (m.RunID != "" && strings.Contains(text, "plimsoll") && strings.Contains(text, m.RunID)) ||
			(dir != "" && dir != "/" && holdsPath(text, dir)) ||
			slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
		if r[i].Ours {
			ours = append(ours, r[i])
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
