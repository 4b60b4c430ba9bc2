package docker

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kata"
	"plimsoll/internal/measure/host/proc"
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

func (f flavour) noRuntime(info *system.Info, level string) *engine.Error {
	var names []string
	for name := range info.Runtimes {
		names = append(names, name)
	}
	slices.Sort(names)
	if slices.Contains(kata.Levels, level) {
		return f.noKata(level, names)
	}
	return &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the %s daemon has no runtime %s; it has %s", f.name, level, strings.Join(names, ", ")),
		Fix:  fmt.Sprintf(`add "runtimes": {"%s": {"path": "/usr/bin/%s"}} to %s and restart the daemon`, level, level, f.config)}
}

// noKata: either this machine has no Kata Containers, or the daemon was not
// told of it.
func (f flavour) noKata(level string, names []string) *engine.Error {
	e := &engine.Error{Class: record.Unavailable,
		Text: fmt.Sprintf("the %s daemon has no runtime %s of Kata Containers; it has %s", f.name, level, strings.Join(names, ", ")),
		Fix:  fmt.Sprintf(`add "runtimes": {"%s": {"runtimeType": "io.containerd.kata.v2"%s}} to %s and restart the daemon`, level, configured(level), f.config)}
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

// identify asks a runtime's program for its name: the daemon's name for it
// proves nothing. A runtime that is a shim (io.containerd.…) has no program
// that could be asked.
func (env *environment) identify(ctx context.Context, info *system.Info, name string) adapter.Itself {
	path := info.Runtimes[name].Path
	id := adapter.Identify(ctx, env.starter(ctx), path)
	if id.Program == "" && filepath.Base(path) == "runc" {
		// An ordinary user may not look into the daemon; the daemon has asked runc itself.
		if v, err := env.d.ServerVersion(ctx, client.ServerVersionOptions{}); err == nil {
			for _, c := range v.Components {
				if c.Name == "runc" {
					id.Program, id.Version = c.Name, c.Version
				}
			}
		}
	}
	return id
}

// starter is the process whose shims start the runtime: the containerd that the daemon
// uses, or the daemon where that can't be told; 0 where neither can.
func (env *environment) starter(ctx context.Context) int {
	sockets, pids := env.Daemons(ctx)
	for _, pid := range pids {
		if p, err := proc.Here.Stat(pid); err == nil && strings.HasSuffix(p.Comm, "containerd") {
			return pid
		}
	}
	for _, socket := range slices.Backward(sockets) {
		if pid, err := proc.Here.Behind(socket); err == nil {
			return pid
		}
	}
	return 0
}
