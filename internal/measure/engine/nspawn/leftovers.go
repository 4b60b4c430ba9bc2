package nspawn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

// places are where nspawn has a directory for each container, by its name, and
// leaves it when it is killed: for mounts that come later, and since version
// 256 for sockets.
var places = []string{filepath.Join(runDir, "propagate"), filepath.Join(runDir, "unix-export")}

// locks is where nspawn keeps a lock file for each root directory.
var locks = filepath.Join(runDir, "locks")

// thing is what the ledger says of a container.
func (e *environment) thing(name string) engine.Thing {
	return engine.Thing{Kind: engine.KindContainer, Name: name, Engine: "nspawn", At: e.path}
}

// enter puts a container into the ledger; the name must not be anybody's.
func (e *environment) enter(name string) error {
	if there := traces(name); len(there) > 0 {
		return &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("a container %s has been here already, and was not ours: there is %s", name, there[0])}
	}
	// Another environment of the image has the same lock, and may have been closed.
	if lock := e.root.lockThing(); !slices.Contains(e.Kit.Ledger.Left(), lock) {
		if err := e.Kit.Ledger.Made(lock); err != nil {
			return err
		}
	}
	return e.Kit.Ledger.Made(e.thing(name))
}

// leave strikes a container out of which nothing is left; what is left stays for
// the sweep.
func (e *environment) leave(name string) error {
	if len(traces(name)) > 0 {
		return nil
	}
	return e.Kit.Ledger.Gone(e.thing(name))
}

// traces are the directories of a container.
func traces(name string) []string {
	var found []string
	for _, place := range places {
		path := filepath.Join(place, name)
		if fi, err := os.Lstat(path); err == nil && fi.IsDir() {
			found = append(found, path)
		}
	}
	return found
}

// tidyPlaces removes a container's directories. They are empty when nothing is
// mounted there.
func tidyPlaces(name string) error {
	var errs []error
	for _, dir := range traces(name) {
		errs = append(errs, adapter.Detach(dir), adapter.RemoveIfThere(dir))
	}
	return errors.Join(errs...)
}

// Leftovers finds what nspawn keeps of containers and of root directories outside
// of the run's folder. Mounts are in the containers' own namespaces and go with
// them; processes are in cgroups that the ledger names.
func (*Engine) Leftovers(_ context.Context, _ *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookForEach(things, func(t engine.Thing) (bool, error) {
		if t.Kind == engine.KindContainer {
			return len(traces(t.Name)) > 0, nil
		}
		_, err := os.Lstat(t.Name)
		return err == nil && t.Kind == engine.KindFile && filepath.Dir(t.Name) == locks, nil
	}, func(_ context.Context, t engine.Thing) error {
		if t.Kind == engine.KindContainer {
			return tidyPlaces(t.Name)
		}
		return unlock(t.Name)
	}), nil
}

var _ engine.Bearer = (*Engine)(nil)

// Bearing lists cgroups, and what nspawn keeps of containers by their names.
func (*Engine) Bearing(_ context.Context, _ *engine.Kit, runID string) ([]engine.Thing, error) {
	found, err := cgroup.Bearing(runID)
	for _, place := range places {
		entries, _ := os.ReadDir(place) // not every version has each
		for _, e := range entries {
			if strings.Contains(e.Name(), runID) {
				found = append(found, engine.Thing{Kind: engine.KindContainer, Name: e.Name(), Engine: "nspawn"})
			}
		}
	}
	return found, err
}
