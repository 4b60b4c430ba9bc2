package podman

import (
	"path/filepath"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// findRuntime is the path of a runtime, by a file that bears its name: podman knows
// by the name of the file what a runtime can, and gives it other options if it is
// called otherwise, as a build may be.
func findRuntime(kit *engine.Kit, name string) (string, error) {
	path, err := kit.LookPath(name)
	if err != nil {
		return "", &engine.Error{Class: record.Unavailable, Text: "finding the runtime " + name, Fix: "apt-get install " + name, Err: err}
	}
	if filepath.Base(path) == name {
		return path, nil
	}
	link, werr := linked(kit, name, path)
	if werr != nil {
		return "", werr
	}
	return link, nil
}
