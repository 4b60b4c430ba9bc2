// Package cgroup puts limits on an environment from outside: a cgroup of the run's,
// in which the launcher, and so everything that it starts, lives.
//
// It is for engines that can't limit by themselves. It is opinionated: equal
// limits or an honest "none" with the reason; it uses the hierarchies that the
// machine has mounted (v1, v2 or both), mounts none and removes its own groups
// again; on v2 a controller that nobody handed down to the root's children
// stays handed down, since others may have come to need it; and it works on
// plain files, since two limits and three counters need no library.
//
// Why it is so: docs/decisions/control-groups.md.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// The facts that this package adds, and the values of Limits.
const (
	Limits      = "limits"        // who limits
	LimitsWhy   = "limits-reason" // why nobody does
	ByEngine    = "engine"
	ByUs        = "cgroup-of-ours"
	Nobody      = "none"
	periodUS    = 100_000
	removeLimit = 3 * time.Second
	removeEvery = 2 * time.Millisecond
	groupPrefix = "plimsoll-"
)

// Cgroup is the group around one environment. Nil is valid and limits
// nothing.
type Cgroup struct {
	name string
	kit  *engine.Kit
	dirs []groupDir
	why  string // why there are no limits, where there are none
}

// groupDir is our group in one hierarchy.
type groupDir struct {
	path string
	kind kind
}

type kind int

const (
	cpuV1 kind = iota
	memoryV1
	bothV1 // cpu and memory mounted together
	unified
)

// New makes the group for the environment env. That limits can't be set here
// is no error: it is a fact, see Facts. An error is what went wrong half-way.
func New(kit *engine.Kit, env string, limits engine.Limits) (*Cgroup, error) {
	making.Lock()
	defer making.Unlock()
	c := &Cgroup{kit: kit, name: groupPrefix + kit.RunID + "-" + clean(env)}
	if limits == (engine.Limits{}) {
		c.why = "no limits were asked for"
		return c, nil
	}
	parents, why := findParents(proc.Here)
	if why != "" {
		c.why = why
		return c, nil
	}
	var err error
	if c.name, err = c.free(parents); err != nil {
		return nil, err
	}
	for _, p := range parents {
		dir := groupDir{path: filepath.Join(p.path, c.name), kind: p.kind}
		thing := engine.Thing{Kind: engine.KindCgroup, Name: dir.path}
		if err := kit.Ledger.Made(thing); err != nil {
			return nil, fmt.Errorf("noting the cgroup %s in the ledger: %w", dir.path, err)
		}
		// One that is there by now is not ours, and must not be taken away as if it were.
		if err := os.Mkdir(dir.path, 0o755); err != nil {
			c.undo()
			if lerr := kit.Ledger.Gone(thing); lerr != nil {
				return nil, errors.Join(err, lerr)
			}
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
				c.why = fmt.Sprintf("no permission to make a cgroup in %s", p.path)
				return c, nil
			}
			return nil, fmt.Errorf("making the cgroup %s: %w", dir.path, err)
		}
		c.dirs = append(c.dirs, dir)
		if err := dir.limit(limits); err != nil {
			c.undo()
			return nil, fmt.Errorf("limiting the cgroup %s: %w", dir.path, err)
		}
	}
	return c, nil
}

// Hindrance says what is in the way of making groups that limit CPU and memory here; ""
// is nothing.
func Hindrance() string {
	_, why := findParents(proc.Here)
	return why
}

// making lets environments look for a free name and take it one after the other.
var making sync.Mutex

// free gives a name that no group has: another environment of the run may have
// the same one, and then a number follows. A group that is there and that the
// run's ledger does not name is somebody else's: it is not taken over, since it
// would get our limits and be removed with what runs in it.
func (c *Cgroup) free(parents []parent) (string, error) {
	for i := 1; ; i++ {
		name, own := c.name, false
		if i > 1 {
			name += "-" + strconv.Itoa(i)
		}
		there := ""
		for _, p := range parents {
			path := filepath.Join(p.path, name)
			own = own || slices.Contains(c.kit.Ledger.Left(), engine.Thing{Kind: engine.KindCgroup, Name: path})
			if _, err := os.Lstat(path); err == nil {
				there = path
			}
		}
		switch {
		case there == "":
			return name, nil
		case !own:
			return "", &engine.Error{Class: record.HarnessError,
				Text: fmt.Sprintf("making the cgroup %s: there is one of this name already, which this run has not made", there), Fix: "rmdir " + there}
		}
	}
}

// undo takes back what New made, when it can't go on.
func (c *Cgroup) undo() {
	for _, d := range c.dirs {
		if os.Remove(d.path) == nil {
			_ = c.kit.Ledger.Gone(engine.Thing{Kind: engine.KindCgroup, Name: d.path})
		}
	}
	c.dirs = nil
}

// Procs are the files for probe.Options.Cgroups.
func (c *Cgroup) Procs() []string {
	if c == nil {
		return nil
	}
	var files []string
	for _, d := range c.dirs {
		files = append(files, filepath.Join(d.path, "cgroup.procs"))
	}
	return files
}

// Facts say who limits: cgroup-of-ours or none, with the reason.
func (c *Cgroup) Facts() map[string]string {
	switch {
	case c == nil:
		return map[string]string{Limits: Nobody}
	case len(c.dirs) == 0:
		return map[string]string{Limits: Nobody, LimitsWhy: c.why}
	}
	return map[string]string{Limits: ByUs}
}

// ByEngineFacts say who limits where the engine can.
func ByEngineFacts(limits engine.Limits) map[string]string {
	if limits == (engine.Limits{}) {
		return map[string]string{Limits: Nobody, LimitsWhy: "none were asked for"}
	}
	return map[string]string{Limits: ByEngine}
}

// Remove waits until the group is empty and removes it. Processes that are
// still in it after a while are killed, and the error names them.
func (c *Cgroup) Remove(ctx context.Context) error {
	if c == nil {
		return nil
	}
	var errs []error
	var rest []groupDir
	for _, d := range c.dirs {
		if err := d.remove(ctx); err != nil {
			errs = append(errs, err)
		}
		if _, err := os.Stat(d.path); err == nil {
			rest = append(rest, d)
			continue
		}
		if err := c.kit.Ledger.Gone(engine.Thing{Kind: engine.KindCgroup, Name: d.path}); err != nil {
			errs = append(errs, err)
		}
	}
	c.dirs = rest
	return errors.Join(errs...)
}

func (d groupDir) remove(ctx context.Context) error {
	killed := ""
	for deadline := time.Now().Add(removeLimit); ; {
		err := removeGroup(d.path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			break
		}
		if !errors.Is(err, syscall.EBUSY) {
			return fmt.Errorf("removing the cgroup %s: %w", d.path, err)
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			if killed != "" {
				return fmt.Errorf("removing the cgroup %s: still busy after killing %s", d.path, killed)
			}
			killed = d.kill()
			deadline = time.Now().Add(removeLimit)
			// Those that were killed need a moment, even if we are in a hurry.
			ctx = context.WithoutCancel(ctx)
		}
		time.Sleep(removeEvery)
	}
	if killed != "" {
		return &engine.Error{Class: record.UncleanEnd,
			Text: fmt.Sprintf("processes were left in the cgroup %s and were killed: %s", d.path, killed)}
	}
	return nil
}

// removeGroup removes a group; one that a runtime has made may have groups of
// the container's own below it, which go first.
func removeGroup(dir string) error {
	err := os.Remove(dir)
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	below, _ := filepath.Glob(filepath.Join(dir, "*", "cgroup.procs"))
	for _, procs := range below {
		if err := removeGroup(filepath.Dir(procs)); err != nil {
			return err
		}
	}
	if len(below) == 0 {
		return err
	}
	return os.Remove(dir)
}

// kill ends whatever is in the group and below it, and names it.
func (d groupDir) kill() string {
	var names []string
	_ = filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil //nolint:nilerr //  a group that is going away has nobody to be killed
		}
		for _, pid := range (groupDir{path: path}).pids() {
			comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			if (groupDir{path: path}).end(pid) {
				names = append(names, fmt.Sprintf("%s (%d)", strings.TrimSpace(string(comm)), pid))
			}
		}
		return nil
	})
	// On v2 this also reaches those who are being forked meanwhile, and those
	// of other pid namespaces.
	if !d.hasUs() {
		_ = os.WriteFile(filepath.Join(d.path, "cgroup.kill"), []byte("1"), 0)
	}
	if names == nil {
		return "nothing that can be seen"
	}
	return strings.Join(names, ", ")
}

// end kills a member; false where it is none any more. It is held before it is
// looked for once more: its number may have become another process's.
func (d groupDir) end(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return slices.Contains(d.pids(), pid) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// hasUs says whether we are in the group or below it.
func (d groupDir) hasUs() bool {
	groups, err := proc.Here.Groups(proc.Self)
	return err != nil || slices.ContainsFunc(groups, func(g proc.Group) bool { return strings.Contains(g.Path, "/"+filepath.Base(d.path)) })
}

func (d groupDir) pids() []int {
	text, _ := os.ReadFile(filepath.Join(d.path, "cgroup.procs"))
	var pids []int
	for _, f := range strings.Fields(string(text)) {
		// 0 is a process outside our pid namespace.
		if n, err := strconv.Atoi(f); err == nil && n > 0 && n != os.Getpid() {
			pids = append(pids, n)
		}
	}
	return pids
}

// clean makes a name fit for a cgroup.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
}
