package docker

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/kata"
	"plimsoll/internal/record"
)

// runtimeLevels are the runtimes that a study can ask for by name. kata is
// whatever the daemon has of Kata Containers, the others are its variants by
// hypervisor.
var runtimeLevels = append([]string{"runc", "crun", "youki", "runsc"}, kata.Levels...)

// foreignKernel are the runtimes whose payload sees another kernel.
var foreignKernel = append([]string{"runsc"}, kata.Levels...)

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
		if r.Path != "" && filepath.Base(r.Path) == level || level == "kata" && isKata(name, r.Path, r.Type) || isVariant(level, name, r.Type) {
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

// isVariant says whether a runtime is this variant of Kata's, by its name or
// by its type.
func isVariant(level, name, kind string) bool {
	if kata.Handlers[level] == "" {
		return false
	}
	for _, word := range []string{name, kind} {
		if is, ok := kata.Is(word); ok && is == level {
			return true
		}
	}
	return false
}

func noRuntime(info *system.Info, level string) *engine.Error {
	var names []string
	for name := range info.Runtimes {
		names = append(names, name)
	}
	slices.Sort(names)
	if slices.Contains(kata.Levels, level) {
		return noKata(level, names)
	}
	return &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the docker daemon has no runtime %s; it has %s", level, strings.Join(names, ", ")),
		Fix:  fmt.Sprintf(`add "runtimes": {"%s": {"path": "/usr/bin/%s"}} to /etc/docker/daemon.json and restart the daemon`, level, level)}
}

// noKata: either this machine has no Kata Containers, or the daemon was not
// told of it.
func noKata(level string, names []string) *engine.Error {
	e := &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the docker daemon has no runtime %s of Kata Containers; it has %s", level, strings.Join(names, ", ")),
		Fix:  fmt.Sprintf(`add "runtimes": {"%s": {"runtimeType": "io.containerd.kata.v2"%s}} to /etc/docker/daemon.json and restart the daemon`, level, configured(level))}
	if why, fix := (kata.Machine{}).Missing(level, exec.LookPath); why != "" {
		e.Text, e.Fix = e.Text+", and "+why, fix
	}
	return e
}

// configured names the configuration of a variant, as the daemon is told of it.
func configured(level string) string {
	path := (kata.Machine{}).Facts(level)["hypervisor-config"]
	if level == "kata" || path == "" {
		return ""
	}
	return fmt.Sprintf(`, "options": {"ConfigPath": %q}`, path)
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
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
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
