package podman

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

// A runtime keeps a container's specification beside its status. Where podman
// removes a container that the runtime is still making or taking down (a kill, a
// time limit), it stays and nobody knows of it any more. It says whose the
// container is: by annotations of ours, or by a root in a store of ours.

// containerNote is the annotation that has a container's name; the run's id is
// in that of engine.Label.
const containerNote = "io.plimsoll.container"

// annotations are those of a container of the run's.
func annotations(runID, name string) map[string]string {
	return map[string]string{engine.Label: runID, containerNote: name}
}

// kept is what a specification says, as crun copies it and as runc writes it into its
// state.
type kept struct {
	Root        struct{ Path string }
	Annotations map[string]string
	Config      struct {
		RootFS string
		Labels []string // annotations, as KEY=VALUE
	}
}

// runtimes are those that keep their state in a directory of their name, each with the
// files of it that have a container's specification, and its process and bundle.
var runtimes = map[string]struct{ specification, state string }{
	"crun": {"config.json", "status"}, "runc": {"state.json", "state.json"},
}

// entries lists the directories of a runtime's of which one file, there in each,
// says that they are ours; runtimes keep one for each container.
func (p *program) entries(base, file string, ours func(dir string, text []byte) bool) (dirs []string) {
	_ = p.asUser(func() error { // without the directory there is none
		all, err := os.ReadDir(base)
		for _, e := range all {
			dir := filepath.Join(base, e.Name())
			if text, err := readState(filepath.Join(dir, file)); err == nil && ours(dir, text) {
				dirs = append(dirs, dir)
			}
		}
		return err
	})
	return dirs
}

// states are the directories of runtimes that belong to the container of this
// name, or, without a name, to a store of ours; a container that runs keeps its
// own.
func (p *program) states(name string) (dirs []string) {
	for runtime, files := range runtimes {
		dirs = append(dirs, p.entries(filepath.Join(p.runDir(), runtime), files.specification, func(dir string, text []byte) bool {
			var k kept
			return json.Unmarshal(text, &k) == nil && p.keeps(&k, name) && !runs(filepath.Join(dir, files.state))
		})...)
	}
	return dirs
}

// dropStates removes them.
func (p *program) dropStates(name string) error {
	var errs []error
	for _, dir := range p.states(name) {
		if err := p.asUser(func() error { return safepath.RemoveAll(dir) }); err != nil {
			errs = append(errs, fmt.Errorf("removing what a runtime keeps of a container of the run: %w", err))
		}
	}
	return errors.Join(errs...)
}

// keeps says whether a specification is of the container, or of the store.
func (p *program) keeps(k *kept, name string) bool {
	if name == "" {
		return p.store.own() && strings.HasPrefix(cmp.Or(k.Root.Path, k.Config.RootFS), p.store.root+"/")
	}
	says := func(key, value string) bool {
		return k.Annotations[key] == value || slices.Contains(k.Config.Labels, key+"="+value)
	}
	return p.runID != "" && says(engine.Label, p.runID) && says(containerNote, name)
}

// runs says whether a container's process is still there; without a state there is none
// yet.
func runs(state string) bool {
	text, err := readState(state)
	var s struct {
		PID  int `json:"pid"`              // crun's
		Init int `json:"init_process_pid"` // runc's
	}
	if err != nil || json.Unmarshal(text, &s) != nil || max(s.PID, s.Init) <= 0 {
		return false
	}
	_, err = os.Lstat(fmt.Sprintf("/proc/%d", max(s.PID, s.Init)))
	return err == nil
}
