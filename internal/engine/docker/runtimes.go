package docker

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/kata"
	"plimsoll/internal/record"
)

// runtimeLevels are the runtimes that a study can ask for by name. kata is
// whatever the daemon has of Kata Containers.
var runtimeLevels = []string{"runc", "crun", "youki", "runsc", "kata"}

// foreignKernel are the runtimes whose payload sees another kernel.
var foreignKernel = []string{"runsc", "kata"}

// runtimeName finds the name under which the daemon knows a runtime: its own
// name, or one whose program is called so (a user may have named runsc
// "gvisor"). Empty where the daemon has no such runtime.
func runtimeName(info *system.Info, level string) string {
	if level == engine.DefaultLevel {
		return info.DefaultRuntime
	}
	if _, ok := info.Runtimes[level]; ok {
		return level
	}
	var found []string
	for name, r := range info.Runtimes {
		if r.Path != "" && filepath.Base(r.Path) == level || level == "kata" && isKata(name, r.Path, r.Type) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return found[0]
}

// isKata says whether a runtime is one of Kata's: a shim (by its type, or by a
// name that is one), or a program called so.
func isKata(name, path, kind string) bool {
	return strings.HasPrefix(name, "kata") || strings.HasPrefix(name, "io.containerd.kata") ||
		strings.HasPrefix(kind, "io.containerd.kata") || strings.HasPrefix(filepath.Base(path), "kata-")
}

func noRuntime(info *system.Info, level string) *engine.Error {
	var names []string
	for name := range info.Runtimes {
		names = append(names, name)
	}
	slices.Sort(names)
	if level == "kata" {
		return noKata(names)
	}
	return &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the docker daemon has no runtime %s; it has %s", level, strings.Join(names, ", ")),
		Fix:  fmt.Sprintf(`add "runtimes": {"%s": {"path": "/usr/bin/%s"}} to /etc/docker/daemon.json and restart the daemon`, level, level)}
}

// noKata: either this machine has no Kata Containers, or the daemon was not
// told of it.
func noKata(names []string) *engine.Error {
	e := &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the docker daemon has no runtime of Kata Containers; it has %s", strings.Join(names, ", ")),
		Fix:  `add "runtimes": {"kata": {"runtimeType": "io.containerd.kata.v2"}} to /etc/docker/daemon.json and restart the daemon`}
	if why, fix := (kata.Machine{}).Missing("kata", exec.LookPath); why != "" {
		e.Text, e.Fix = e.Text+", and "+why, fix
	}
	return e
}

// identity is what a runtime's program says that it is.
type identity struct {
	Path    string // as the daemon has it
	Program string // runc, crun, youki, runsc; empty where it did not say
	Version string
}

// identify asks a runtime's program for its name: the daemon's name for it
// proves nothing. A runtime that is a shim (io.containerd.…) has no program
// that could be asked.
func identify(ctx context.Context, lookPath func(string) (string, error), info *system.Info, name string) identity {
	id := identity{Path: info.Runtimes[name].Path}
	if id.Path == "" {
		return id
	}
	path := id.Path
	if !filepath.IsAbs(path) {
		p, err := lookPath(path)
		if err != nil {
			return id
		}
		path = p
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return id
	}
	id.Program, id.Version = parseVersion(string(out))
	return id
}

// parseVersion reads what runtimes print on --version: "runc version 1.1.5",
// "crun version 1.8.1", "youki 0.7.0" or "youki version: 0.7.0".
func parseVersion(out string) (program, version string) {
	line, _, _ := strings.Cut(out, "\n")
	words := strings.Fields(line)
	if len(words) < 2 {
		return "", ""
	}
	program = words[0]
	version = words[len(words)-1]
	return program, version
}
