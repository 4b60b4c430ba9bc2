//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/revision"
	"plimsoll/internal/record"
)

// bisectBuilds are the work trees of a search, below a directory of ours that goes with
// us: an end in order takes it away, and after a kill the next run or plimsoll clean.
type bisectBuilds struct {
	world World
	set   *setting
	repo  *revision.Repo
	asked *bisectAsked
	keep  string // where the logs go
	below string
	trees map[string]*revision.Tree
	paths map[string]string
	took  time.Duration // all builds
	made  int
}

// program is the build of a commit as a level, made where it is not there. The error is
// a *revision.BuildError, or what is wrong with the program, where that is the
// commit's own fault.
func (b *bisectBuilds) program(ctx context.Context, hash, level string) (record.Build, error) {
	path, ok := b.paths[hash]
	if !ok {
		var err error
		if path, err = b.build(ctx, hash); err != nil {
			return record.Build{}, err
		}
		b.paths[hash] = path
	}
	a := build.Asked{Program: b.asked.Program, Level: level, Path: path, Where: "commit " + revision.Short(hash)}
	out, err := b.set.bind(ctx, []build.Asked{a})
	if err != nil {
		if ctx.Err() != nil {
			return record.Build{}, fail(Interrupted, "interrupted")
		}
		return record.Build{}, &revision.BuildError{Err: err, Made: true}
	}
	return out[0], nil
}

func (b *bisectBuilds) build(ctx context.Context, hash string) (string, error) {
	fmt.Fprintf(b.world.Stderr, "building %s\n", revision.Short(hash))
	begin := time.Now()
	t, err := b.repo.Tree(ctx, b.below, hash)
	if err != nil {
		return "", err
	}
	b.trees[hash] = t
	name := "build-" + revision.Short(hash) + ".log"
	log := filepath.Join(b.below, name)
	path, err := t.Build(ctx, b.asked.Build, b.asked.Made, log, b.asked.BuildLimit)
	if ctx.Err() != nil {
		return "", fail(Interrupted, "interrupted")
	}
	kept := filepath.Join(b.keep, name)
	if kerr := keepLog(b.world, log, kept); kerr != nil {
		return "", errors.Join(err, kerr)
	}
	if failed, ok := errors.AsType[*revision.BuildError](err); ok {
		return "", &revision.BuildError{Err: fmt.Errorf("%w%s; what it printed is in %s", failed.Err, lastLine(log), shortPath(kept))}
	}
	b.took, b.made = b.took+time.Since(begin), b.made+1
	return path, err
}

// lastLine is the last error that a build has printed, or its last line, to stand
// behind what became of it.
func lastLine(log string) string {
	line := ""
	for l := range strings.Lines(lastWords(log)) {
		if l = strings.TrimSpace(l); line == "" || strings.Contains(l, "error") || !strings.Contains(line, "error") {
			line = l
		}
	}
	if line == "" {
		return ""
	}
	return ": " + line
}

// only takes away the work trees of all other commits.
func (b *bisectBuilds) only(hashes ...string) error {
	keep := map[string]bool{}
	for _, h := range hashes {
		keep[h] = true
	}
	var errs []error
	for h, t := range b.trees {
		if !keep[h] {
			errs = append(errs, t.Remove())
			delete(b.trees, h)
			delete(b.paths, h)
		}
	}
	return errors.Join(errs...)
}
