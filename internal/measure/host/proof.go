//go:build linux

package host

import (
	"os"
	"slices"
	"strings"
)

// minName is the length of the shortest name that is looked for: a shorter one
// would be found in anything.
const minName = 8

// proved returns whether an item is proved to be the run's by itself. dir is the
// run's folder, clean, or empty. What a process descends from is another proof:
// see Residue.inherit.
func (i *Item) proved(m Marks, dir string) bool {
	below := func(p string) bool { return dir != "" && (p == dir || strings.HasPrefix(p, dir+"/")) }
	listed := func(p string) bool {
		return slices.ContainsFunc(m.Paths, func(l string) bool { return p == l || strings.HasPrefix(p, l+"/") })
	}
	switch i.Kind {
	case KindMount:
		return below(i.Point) || listed(i.Point)
	case KindCgroup:
		return listed(i.Name)
	case KindNetNS, KindLink:
		return slices.Contains(m.Paths, i.Name)
	case KindLoop:
		return below(strings.TrimSuffix(i.Detail, " (deleted)"))
	case KindProcess:
		return below(i.exe) || i.root != "/" && below(i.root) || slices.ContainsFunc(i.groups, listed) ||
			i.Helper && i.machine.proc().Inherited(i.PID, m.Mark)
	}
	return false
}

// inherit marks the descendants of proved processes as proved. PID 1, this
// process and those that it descends from are never proved.
func (r Residue) inherit() {
	at := map[int]*Item{}
	for i := range r {
		if r[i].Kind == KindProcess {
			at[r[i].PID] = &r[i]
		}
	}
	for pid := os.Getpid(); at[pid] != nil; {
		up := at[pid].parent
		at[pid].Proved = false
		delete(at, pid) // parents have other pids, so that this ends
		pid = up
	}
	delete(at, 1)
	for grown := true; grown; {
		grown = false
		for _, it := range at {
			if up := at[it.parent]; !it.Proved && up != nil && up.Proved {
				it.Proved, grown = true, true
			}
		}
	}
}
