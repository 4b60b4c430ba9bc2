package private

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// configuration is all by which a build is configured, for a name.
func configuration(b *record.Build) (text string) {
	for _, f := range b.Files {
		text += f.Name + "=" + f.SHA256 + "\x00"
	}
	for _, v := range b.Variables {
		text += v + "\x00"
	}
	return text
}

// Set is what a daemon needs to run the kit's builds of these programs: a name for a
// daemon of that set, empty where there is no such build, and a PATH on which it finds
// each of them first, under the program's name. What one daemon starts it looks up
// there, whatever the user's files are called.
func Set(kit *engine.Kit, programs ...string) (name string, env []string, err error) {
	h := fnv.New32a()
	dir := filepath.Join(kit.Dir, "programs-")
	built := map[string]string{}
	for _, p := range programs {
		if path := kit.Built(p); path != "" && kit.Joined(p) == "" {
			built[p] = path
			_, _ = h.Write([]byte(p + "=" + path + "\x00")) // never fails
			_, _ = h.Write([]byte(configuration(kit.BuildOf(p))))
		}
	}
	if len(built) == 0 {
		return "", nil, nil
	}
	name = fmt.Sprintf("%08x", h.Sum32())
	dir += name
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", nil, fmt.Errorf("making a directory for the builds of a set: %w", err)
	}
	for p, path := range built {
		if err := os.Symlink(path, filepath.Join(dir, p)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", nil, fmt.Errorf("linking %s under the name %s: %w", path, p, err)
		}
	}
	return name, []string{"PATH=" + dir + ":" + strings.TrimPrefix(adapter.Path, "PATH=")}, nil
}

// Joined is the error for an environment that takes a private daemon of a program while
// the build that it runs is a daemon that runs already; nil where it is none.
func Joined(kit *engine.Kit, program string) *engine.Error {
	socket := kit.Joined(program)
	if socket == "" {
		return nil
	}
	return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("the %s at %s is used as it is: what it lacks, or a build of what it calls, is not available there", program, socket)}
}
