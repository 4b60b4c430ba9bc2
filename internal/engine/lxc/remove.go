package lxc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/engine"
)

// lockDir is where LXC keeps a lock file for every directory of containers.
const lockDir = "/run/lxc/lock"

// unlock removes LXC's lock files of a directory of ours, and what is empty
// above it.
func unlock(dir string) {
	at := filepath.Join(lockDir, dir)
	if os.RemoveAll(at) != nil {
		return
	}
	for at = filepath.Dir(at); len(at) > len(lockDir) && os.Remove(at) == nil; at = filepath.Dir(at) {
		continue
	}
}

// groups are the cgroups of containers whose name begins so: LXC has one for
// the container and one for its monitor, in every hierarchy.
func groups(prefix string) []string {
	var found []string
	for _, kind := range []string{"lxc.payload.", "lxc.monitor."} {
		for _, where := range []string{"/sys/fs/cgroup/", "/sys/fs/cgroup/*/"} {
			dirs, _ := filepath.Glob(where + kind + prefix + "*")
			found = append(found, dirs...)
		}
	}
	return found
}

// sweepLimit is how long the monitor may take to end after its container.
const sweepLimit = 5 * time.Second

// sweep waits until the cgroups of a container are gone, which its monitor
// removes as its last act, and after a while kills what is in them and
// removes them itself. The poll's period is a millisecond; it is outside of
// what is measured.
func sweep(name string) error {
	began := time.Now()
	var left []string
	for time.Since(began) < sweepLimit {
		if left = groups(name); len(left) == 0 {
			return nil
		}
		if since := time.Since(began); since > time.Second || !alive(left) {
			for _, dir := range left {
				clear(dir)
			}
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("the container %s left the cgroups %s", name, strings.Join(left, ", "))
}

// alive says whether a process is in one of the cgroups.
func alive(dirs []string) bool {
	for _, dir := range dirs {
		if len(members(dir)) > 0 {
			return true
		}
	}
	return false
}

// members are the processes of a cgroup and of those below it.
func members(dir string) []int {
	var pids []int
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == "cgroup.procs" {
			text, _ := os.ReadFile(p)
			for f := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(f); err == nil && pid > 0 {
					pids = append(pids, pid)
				}
			}
		}
		return nil
	})
	return pids
}

// clear kills what is in a cgroup and removes it as far as it is empty.
func clear(dir string) {
	for _, pid := range members(dir) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	var dirs []string
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, p)
		}
		return nil
	})
	for i := len(dirs) - 1; i >= 0; i-- {
		_ = unix.Rmdir(dirs[i])
	}
}

// Leftovers is documented in engine.Engine. A container that still runs has
// its cgroups; its mounts go with it.
func (*Engine) Leftovers(_ context.Context, _ *engine.Kit, runID string) ([]engine.Leftover, error) {
	prefix := "plimsoll-" + runID
	var left []engine.Leftover
	seen := map[string]bool{}
	for _, dir := range groups(prefix) {
		base := filepath.Base(dir)
		name := strings.TrimPrefix(strings.TrimPrefix(base, "lxc.payload."), "lxc.monitor.")
		if seen[name] {
			continue
		}
		seen[name] = true
		left = append(left, engine.Leftover{Kind: "container", Name: name, Remove: func(context.Context) error {
			for _, dir := range groups(name) {
				clear(dir)
			}
			return errors.Join(sweep(name))
		}})
	}
	return left, nil
}
