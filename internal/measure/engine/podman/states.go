package podman

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

// crun keeps a copy of a container's specification beside its status. Where
// podman removes a container that crun is still making or taking down (a kill,
// a time limit), the copy stays and nobody knows of it any more. It says whose
// the container is: by annotations of ours, or by a root in a store of ours.

// containerNote is the annotation that has a container's name; the run's id is
// in that of engine.Label.
const containerNote = "io.plimsoll.container"

// annotations are those of a container of the run's.
func annotations(runID, name string) map[string]string {
	return map[string]string{engine.Label: runID, containerNote: name}
}

// kept is what crun's copy says.
type kept struct {
	Root        struct{ Path string }
	Annotations map[string]string
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

// states are the directories of crun's that belong to the container of this
// name, or, without a name, to a store of ours; a container that runs keeps its
// own.
func (p *program) states(name string) []string {
	return p.entries(filepath.Join(p.runDir(), "crun"), "config.json", func(dir string, text []byte) bool {
		var k kept
		return json.Unmarshal(text, &k) == nil && p.keeps(k, name) && !runs(dir)
	})
}

// dropStates removes them.
func (p *program) dropStates(name string) error {
	var errs []error
	for _, dir := range p.states(name) {
		if err := p.asUser(func() error { return safepath.RemoveAll(dir) }); err != nil {
			errs = append(errs, fmt.Errorf("removing what crun keeps of a container of the run: %w", err))
		}
	}
	return errors.Join(errs...)
}

// keeps says whether a copy is of the container, or of the store.
func (p *program) keeps(k kept, name string) bool {
	if name == "" {
		return p.store.own() && strings.HasPrefix(k.Root.Path, p.store.root+"/")
	}
	return p.runID != "" && k.Annotations[engine.Label] == p.runID && k.Annotations[containerNote] == name
}

// runs says whether a state's process is still there; without a status there is
// none yet.
func runs(dir string) bool {
	text, err := readState(filepath.Join(dir, "status"))
	var s struct {
		PID int `json:"pid"`
	}
	if err != nil || json.Unmarshal(text, &s) != nil || s.PID <= 0 {
		return false
	}
	_, err = os.Lstat(fmt.Sprintf("/proc/%d", s.PID))
	return err == nil
}
