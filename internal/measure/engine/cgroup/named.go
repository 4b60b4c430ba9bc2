package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// Places returns the path of a group of this name at the top of every hierarchy,
// whether it exists or not: a runtime makes one in each of version 1, also where it
// limits nothing.
func Places(name string) ([]string, error) {
	if name == "" || strings.ContainsAny(name, "/\x00") || strings.Trim(name, ".") == "" {
		return nil, fmt.Errorf("%q is not the name of a cgroup", name)
	}
	hierarchies, err := proc.Here.Hierarchies()
	var paths []string
	for _, h := range hierarchies { // one may have two mounts
		if path := filepath.Join(h.Mount, name); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// Named returns those groups of this name that exist.
func Named(name string) ([]string, error) {
	paths, err := Places(name)
	return existing(paths), err
}

func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		fi, err := os.Lstat(path)
		return err != nil || !fi.IsDir()
	})
}

// Vacant is an error where a group of this name is there: to be asked before a
// container is made for which an engine makes one. Its group would be another's,
// and would be removed with what runs in it.
func Vacant(name string) error {
	there, err := Named(name)
	if err == nil && len(there) > 0 {
		err = &engine.Error{Class: record.HarnessError, Fix: "rmdir " + strings.Join(there, " "),
			Text: fmt.Sprintf("a container would get the cgroup %s, which exists already and belongs to someone else", there[0])}
	}
	return err
}

// MakeNamed makes a group of this name at the top of every hierarchy, as a runtime would.
// Vacant comes before it, and the ledger has the name already.
func MakeNamed(name string) error {
	paths, err := Places(name)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("making a cgroup before its container: %w", err)
		}
	}
	return nil
}

// RemoveNamed removes the group of this name at the top of every hierarchy,
// with what still runs in it: what a runtime leaves that gave up waiting for
// the end of processes that it had killed. A group that is not there is no
// error; one of a name that the run's ledger does not have is not ours.
func RemoveNamed(ctx context.Context, ledger engine.Ledger, name string) error {
	there, err := Named(name)
	if err != nil || len(there) == 0 {
		return err
	}
	if !slices.ContainsFunc(ledger.Left(), func(t engine.Thing) bool { return t.Name == name }) {
		return fmt.Errorf("removing the cgroup %s: the run's ledger names nothing of this name", there[0])
	}
	return RemoveGroups(ctx, there)
}

// Bearing lists the groups at the top that have a run's id in their name,
// whoever has made them: for an engine.Bearer.
func Bearing(runID string) ([]engine.Thing, error) {
	hierarchies, err := proc.Here.Hierarchies()
	if err != nil {
		return nil, err
	}
	mounts := make([]string, len(hierarchies))
	for i, h := range hierarchies {
		mounts[i] = h.Mount
	}
	return bearing(mounts, runID)
}

// bearing looks at the top of each hierarchy that is still mounted: a systemd-nspawn that
// starts has one of its own for a moment.
func bearing(mounts []string, runID string) ([]engine.Thing, error) {
	var found []engine.Thing
	for _, mount := range mounts {
		entries, err := os.ReadDir(mount)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return found, err
		}
		for _, e := range entries {
			t := engine.Thing{Kind: engine.KindCgroup, Name: filepath.Join(mount, e.Name())}
			if e.IsDir() && strings.Contains(e.Name(), runID) && !slices.Contains(found, t) {
				found = append(found, t)
			}
		}
	}
	return found, nil
}
