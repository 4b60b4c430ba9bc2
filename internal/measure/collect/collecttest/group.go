// Package collecttest makes control groups and processes whose use of the
// machine is known, for tests and benchmarks of what watches them.
//
// It is opinionated: a group of ours lies at the top of every hierarchy that
// the machine has mounted, bears our name, and is gone after Remove.
package collecttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/host/proc"
)

// Group is one control group in every hierarchy.
type Group struct {
	name string
	dirs []dir
}

type dir struct {
	proc.Hierarchy
	path string
}

// New makes a group; its name begins with "plimsoll-".
func New(name string) (*Group, error) {
	if !strings.HasPrefix(name, "plimsoll-") || strings.Contains(name, "/") {
		return nil, fmt.Errorf("a group can't be called %q", name)
	}
	hierarchies, err := proc.Here.Hierarchies()
	if err != nil {
		return nil, err
	}
	g := &Group{name: name}
	for _, h := range hierarchies {
		d := dir{h, filepath.Join(h.Mount, name)}
		if !d.Unified && !slices.ContainsFunc([]string{"cpu", "cpuacct", "memory", "blkio", "pids"}, d.Has) {
			continue
		}
		if d.Unified {
			handDown(d.Mount)
		}
		if err := os.Mkdir(d.path, 0o755); err != nil {
			return nil, errors.Join(err, g.Remove())
		}
		g.dirs = append(g.dirs, d)
	}
	return g, nil
}

// handDown lets the groups below the root of version 2 have controllers; what
// is not there is another hierarchy's.
func handDown(root string) {
	for _, c := range []string{"+memory", "+cpu", "+io", "+pids"} {
		_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte(c), 0o644) // refused: the group goes without
	}
}

// Add moves a process into the group.
func (g *Group) Add(pid int) error {
	for _, d := range g.dirs {
		if err := os.WriteFile(filepath.Join(d.path, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return fmt.Errorf("moving process %d into a group: %w", pid, err)
		}
	}
	return nil
}

// Dir is the group's directory for a controller: its own hierarchy's, or that
// of version 2; "" where there is none.
func (g *Group) Dir(controller string) string {
	unified := ""
	for _, d := range g.dirs {
		if d.Has(controller) {
			return d.path
		}
		if d.Unified {
			unified = d.path
		}
	}
	return unified
}

// LimitCPU lets the group have so many processors.
func (g *Group) LimitCPU(cpus float64) error {
	const period = 100_000
	quota := strconv.Itoa(int(cpus * period))
	d := g.Dir("cpu")
	if _, err := os.Stat(d + "/cpu.cfs_quota_us"); err == nil {
		return os.WriteFile(d+"/cpu.cfs_quota_us", []byte(quota), 0o644)
	}
	return os.WriteFile(d+"/cpu.max", []byte(quota+" "+strconv.Itoa(period)), 0o644)
}

// Remove takes the group away; its processes must have ended, or be about to.
func (g *Group) Remove() error {
	var errs []error
	for _, d := range g.dirs {
		var err error
		for range 200 { // an ended process leaves its group a moment later
			if err = os.Remove(d.path); err == nil || errors.Is(err, os.ErrNotExist) {
				err = nil
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		errs = append(errs, err)
	}
	g.dirs = nil
	return errors.Join(errs...)
}
