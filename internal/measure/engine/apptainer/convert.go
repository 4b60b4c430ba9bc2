package apptainer

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// byArchive is the storage of a container that is started from a Docker image:
// the program converts it into an image file, and starts that. What it has
// converted it keeps in a cache, from which every later start is one from an
// image file; so the cache is off, and each start converts.
const byArchive = "docker-archive"

// formats are the images' forms, by storage.
var formats = map[string]image.Format{"sif": image.SIF, "sandbox": image.Directory, byArchive: image.DockerArchive}

// source is the image as the program's argument.
func source(storage, path string) string {
	if storage == byArchive {
		return byArchive + ":" + path
	}
	return path
}

// failedConversion are the program's words where no image file came of it.
var failedConversion = adapter.Pattern{Text: "unable to handle " + byArchive, Class: record.EngineError}

// scratch is a directory for what a conversion leaves: with the cache off the
// program never takes its image file away. Its words are for the program's
// environment, and done removes it. Other storages need none.
func (e *environment) scratch(name string) (words []string, done func() error, err error) {
	if e.storage != byArchive {
		return nil, func() error { return nil }, nil
	}
	dir := filepath.Join(e.home, "scratch-"+name)
	if err := adapter.OwnDir(dir, e.user, e.Kit); err != nil {
		return nil, nil, err
	}
	prefix := strings.ToUpper(e.program.name)
	return []string{prefix + "_TMPDIR=" + dir, prefix + "_DISABLE_CACHE=true"},
		func() error { return adapter.RemoveDir(dir, e.user, e.Kit) }, nil
}

// cleared adds to a result that a scratch directory could not be removed.
func cleared(res *engine.Result, err error) {
	if err != nil && res.Failure == nil {
		res.Failure = &record.Failure{Class: record.HarnessError, Text: "removing what the conversion left: " + err.Error()}
	}
}

// converting is a run in which what the conversion leaves is taken away after
// the container has gone, outside of all that is timed.
func (e *environment) converting(task engine.Task, run func(engine.Task) (engine.Result, error)) (engine.Result, error) {
	words, done, err := e.scratch(task.Name)
	if err != nil {
		return engine.Result{}, err
	}
	task.Env = slices.Concat(words, task.Env)
	res, err := run(task)
	if cerr := done(); err == nil {
		cleared(&res, cerr)
	} else {
		err = errors.Join(err, cerr)
	}
	return res, err
}
