package lxc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

// lockDir is where LXC keeps a lock file for every directory of containers.
const lockDir = "/run/lxc/lock"

// unlock removes LXC's lock files of a directory of ours, and what is empty
// above it.
func unlock(dir string) {
	at := filepath.Join(lockDir, dir)
	if safepath.RemoveAll(at) != nil {
		return
	}
	for at = filepath.Dir(at); len(at) > len(lockDir) && os.Remove(at) == nil; at = filepath.Dir(at) {
		continue
	}
}

// kinds are how the names of a container's cgroups begin: LXC has one for the
// container and one for its monitor, in every hierarchy.
var kinds = []string{"lxc.payload.", "lxc.monitor."}

// groups are the cgroups of a container.
func groups(name string) ([]string, error) {
	var found []string
	for _, kind := range kinds {
		dirs, err := cgroup.Named(kind + name)
		if err != nil {
			return nil, err
		}
		found = append(found, dirs...)
	}
	return found, nil
}

// vacant is an error where a container of this name has cgroups already. LXC
// would give ours others, and those that are there are somebody else's.
func vacant(name string) error {
	for _, kind := range kinds {
		if err := cgroup.Vacant(kind + name); err != nil {
			return err
		}
	}
	return nil
}

// sweepLimit is how long the monitor may take to end after its container.
const sweepLimit = 5 * time.Second

// sweep waits until the cgroups of a container are gone, which its monitor
// removes as its last act, and after a while kills what is in them and
// removes them itself. The poll's period is a millisecond; it is outside of
// what is measured.
func sweep(ctx context.Context, name string) error {
	began := time.Now()
	var left []string
	for time.Since(began) < sweepLimit {
		var err error
		if left, err = groups(name); err != nil || len(left) == 0 {
			return err
		}
		if since := time.Since(began); since > time.Second || !alive(left) {
			_ = cgroup.RemoveGroups(ctx, left) // what is still there is told below
		}
		time.Sleep(time.Millisecond)
	}
	return &engine.Error{Class: record.UncleanEnd, Text: fmt.Sprintf("the container %s left the cgroups %s", name, strings.Join(left, ", "))}
}

// alive says whether a process is in one of the cgroups, or below it.
func alive(dirs []string) bool {
	for _, dir := range dirs {
		found := false
		_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && d.Name() == "cgroup.procs" {
				text, _ := os.ReadFile(p)
				found = found || len(text) > 0
			}
			return nil
		})
		if found {
			return true
		}
	}
	return false
}

// thing is what the ledger says of a container: At is the directory that LXC
// was told to have it in.
func (e *environment) thing(name string) engine.Thing {
	return engine.Thing{Kind: engine.KindContainer, Name: name, Engine: "lxc", At: e.dir}
}

// lockThing is what it says of the locks of that directory.
func (e *environment) lockThing() engine.Thing {
	return engine.Thing{Kind: engine.KindFile, Name: filepath.Join(lockDir, e.dir), Engine: "lxc"}
}

// Leftovers finds containers by their cgroups; mounts go with the container.
func (*Engine) Leftovers(_ context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookForEach(things, func(t engine.Thing) (bool, error) {
		switch t.Kind {
		case engine.KindContainer:
			there, err := groups(t.Name)
			other := monitoredAt(t.Name) // then it is gone, and this is at most somebody else's
			return len(there) > 0 && (other == "" || other == t.At), err
		case engine.KindFile:
			_, err := os.Lstat(t.Name)
			return err == nil && strings.HasPrefix(strings.TrimPrefix(t.Name, lockDir), kit.Dir+"/"), nil
		}
		return false, nil
	}, func(ctx context.Context, t engine.Thing) error {
		if t.Kind == engine.KindContainer {
			return end(ctx, t)
		}
		unlock(strings.TrimPrefix(t.Name, lockDir))
		_, err := os.Lstat(t.Name)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return errors.Join(fmt.Errorf("%s is still there", t.Name), err)
	}), nil
}

// end kills a container that is still of our directory, with its monitor.
func end(ctx context.Context, t engine.Thing) error {
	if other := monitoredAt(t.Name); other != "" && other != t.At {
		return nil // of another directory by now
	}
	there, err := groups(t.Name)
	if err == nil {
		err = cgroup.RemoveGroups(ctx, there)
	}
	if rest, _ := groups(t.Name); err != nil && len(rest) > 0 {
		return err
	}
	return sweep(ctx, t.Name)
}

// monitoredAt is the directory that a container of this name runs in, as the
// title of its monitor says: "[lxc monitor] DIRECTORY NAME"; "" where there is no
// monitor. Names are unique in a directory only.
func monitoredAt(name string) string {
	for _, line := range adapter.CommandLines() {
		title, ok := strings.CutPrefix(strings.TrimRight(string(line), "\x00 "), "[lxc monitor] ")
		if !ok {
			continue
		}
		if dir, ok := strings.CutSuffix(title, " "+name); ok {
			return dir
		}
	}
	return ""
}

var _ engine.Bearer = (*Engine)(nil)

// Bearing lists containers by their cgroups, and the locks of a run's directories.
func (*Engine) Bearing(_ context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	groups, err := cgroup.Bearing(runID)
	found := slices.DeleteFunc(groups, func(t engine.Thing) bool { return !strings.HasPrefix(filepath.Base(t.Name), "lxc.") })
	locks, _ := filepath.Glob(filepath.Join(lockDir, kit.Dir, "*"))
	for _, l := range locks {
		found = append(found, engine.Thing{Kind: engine.KindFile, Name: l, Engine: "lxc"})
	}
	return found, err
}

// Places lists the container's cgroups. None of these names existed before the
// container was entered.
func (*Engine) Places(t engine.Thing) []string {
	var paths []string
	for _, kind := range kinds {
		if t.Kind == engine.KindContainer {
			there, _ := cgroup.Places(kind + t.Name) // without hierarchies there are none
			paths = append(paths, there...)
		}
	}
	return paths
}
