package enginetest

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// census is what there is of ours on the host, by kind and name. Other tests
// and engines run beside this one, so it counts what bears this run's id or
// lies in its directory, and not everything.
type census map[string]bool

// ours finds what bears the run's id: mounts, cgroups, processes.
func ours(runID, dir string) census {
	c := census{}
	mounts, err := proc.Here.Mounts(proc.Self)
	if err != nil {
		c[err.Error()] = true
	}
	for _, m := range mounts {
		if line := fmt.Sprintf("%+v", *m); strings.Contains(line, runID) || strings.Contains(line, dir) {
			c["mount "+line] = true
		}
	}
	for _, pattern := range []string{"/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*"} {
		groups, _ := filepath.Glob(pattern + runID + "*")
		for _, g := range groups {
			c["cgroup "+g] = true
		}
	}
	for _, pid := range processesWith(runID) {
		c[fmt.Sprintf("process %d %s", pid, cmdline(pid))] = true
	}
	if names, err := os.ReadDir("/run/netns"); err == nil {
		for _, n := range names {
			if strings.Contains(n.Name(), runID) {
				c["netns "+n.Name()] = true
			}
		}
	}
	return c
}

// checkGone demands that nothing of the run is left: what the engine says,
// and what the host shows. The host gets a moment: some engines tear down
// after their last call has returned.
func checkGone(t *testing.T, s *suite) {
	t.Helper()
	t.Run("nothing left", func(t *testing.T) {
		removed, kept := engine.Sweep(t.Context(), s.kit, s.engine)
		for _, l := range removed {
			t.Errorf("the engine still had the %s", l)
		}
		for _, l := range kept {
			t.Errorf("the engine still has the %s: %s", l.Thing, l.Why)
		}
		if b, ok := s.engine.(engine.Bearer); ok {
			bearing, err := b.Bearing(t.Context(), s.kit, s.kit.RunID)
			if err != nil {
				t.Errorf("Bearing: %v", err)
			}
			for _, l := range bearing {
				t.Errorf("in the engine there still is the %s", l)
			}
		}
		for _, r := range Left(s.kit) {
			t.Errorf("left behind: %s", r)
		}
		_ = filepath.WalkDir(s.kit.Dir, func(p string, d fs.DirEntry, err error) error {
			target, _ := os.Readlink(p)
			ofBuild := slices.ContainsFunc(s.kit.AllBuilds, func(b record.Build) bool { return b.Path == target }) // its name, for all of the run
			if err == nil && !d.IsDir() && filepath.Dir(p) != s.kit.Dir && !ofBuild {
				t.Errorf("left behind: file %s", p)
			}
			return nil
		})
	})
}

// processesWith finds the processes whose command line holds a text, but for
// this one.
func processesWith(text string) []int {
	var pids []int
	for _, pid := range proc.Here.PIDs() {
		if pid != os.Getpid() && strings.Contains(cmdline(pid), text) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func cmdline(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(bytes.TrimSpace(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
}

// watchLimits waits for the payload with this word, or for the gVisor sandbox
// of the container with this name, and reads the limits that it is under,
// until quit.
func watchLimits(word, name string, quit <-chan struct{}) engine.Limits {
	for {
		for _, pid := range processesWith(word) {
			exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
			if l := cgroup.InForce(pid); strings.Contains(filepath.Base(exe), "probe") && l != (engine.Limits{}) {
				return l
			}
		}
		for _, pid := range processesWith(name) {
			if l := cgroup.InForce(pid); strings.HasPrefix(cmdline(pid), "runsc-sandbox") && l != (engine.Limits{}) {
				return l
			}
		}
		select {
		case <-quit:
			return engine.Limits{}
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// goneWithin is how long what an engine still tears down may stay: a moment of its
// own, and many times that where others keep the processors busy.
const goneWithin = 10 * time.Second

// Left lists what bears a kit's run id on the host, or lies mounted in its
// directory: for tests beside Conformance too. The host gets a moment.
func Left(kit *engine.Kit) []string {
	for end := time.Now().Add(child.Stretch(goneWithin)); ; time.Sleep(20 * time.Millisecond) {
		rest := slices.Sorted(maps.Keys(ours(kit.RunID, kit.Dir)))
		if len(rest) == 0 || time.Now().After(end) {
			return rest
		}
	}
}
