package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// canBuild says what is in the way of a private daemon that calls another build of a
// runtime: the user's is not told of it.
func (e *Engine) canBuild(kit *engine.Kit, info *system.Info) *engine.Error {
	if e.daemon == "" || rootless(info) == "yes" {
		return &engine.Error{Class: record.Unsupported, Text: fmt.Sprintf("a build of a runtime runs below a private daemon of root's, and %s here has none", e.title)}
	}
	if no := cmp.Or(private.Joined(kit, e.daemon), private.Root(kit)); no != nil {
		return no
	}
	_, no := e.daemonProgram(kit)
	return no
}

// builtSet is the set of builds that a daemon of this kit runs; empty where there is none.
func (e *Engine) builtSet(kit *engine.Kit) (name string, env []string, err error) {
	var names []string
	for _, p := range e.set {
		names = append(names, p.Name)
	}
	return private.Set(kit, names...)
}

// Residents lists the private daemon and the containerd that it has started.
func (env *environment) Residents() (map[string]int, error) {
	own := env.d.own
	if socket := env.kit.Joined(env.d.flavour.daemon); socket != "" {
		pid, err := proc.Here.Behind(socket)
		return map[string]int{env.d.flavour.daemon: pid}, err
	}
	if own == nil {
		return nil, nil
	}
	all := map[string]int{env.d.flavour.daemon: own.PID}
	for _, pid := range proc.Here.PIDs() {
		if p, err := proc.Here.Stat(pid); err == nil && p.PPID == own.PID && p.Comm == containerdProgram {
			all[containerdProgram] = pid
		}
	}
	return all, nil
}

// reloadLimit bounds what a daemon takes to read its configuration again.
const reloadLimit = 10 * time.Second

// bear has the daemon know a build of a runtime, under the name that it gives, with
// the arguments that it gives the runtime anyway. All builds of a run are known to one
// daemon, so that nothing but the runtime differs between them.
//
// A daemon reads its runtimes again on SIGHUP:
// https://docs.docker.com/reference/cli/dockerd/#configuration-reload-behavior
func (o *ownDaemon) bear(ctx context.Context, d *daemon, runtime, path string) (string, error) {
	if o == nil {
		return "", &engine.Error{Class: record.HarnessError, Text: "a build of " + runtime + " was asked for, and the daemon is the user's"}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	h := fnv.New32a()
	_, _ = h.Write([]byte(path)) // never fails
	name := fmt.Sprintf("plimsoll-%s-%08x", runtime, h.Sum32())
	all, _ := o.config["runtimes"].(map[string]any)
	if all == nil || o.file == "" {
		return "", &engine.Error{Class: record.Unsupported, Text: "a build of a runtime below a rootless daemon is not supported"}
	}
	if all[name] != nil {
		return name, nil
	}
	entry := map[string]any{"path": path}
	if own, ok := all[runtime].(map[string]any); ok && own["runtimeArgs"] != nil {
		entry["runtimeArgs"] = own["runtimeArgs"]
	}
	all[name] = entry
	err := o.configure()
	if err == nil {
		err = unix.Kill(o.PID, unix.SIGHUP)
	}
	if err != nil {
		return "", &engine.Error{Class: record.HarnessError, Text: "telling the private daemon of the runtime " + path, Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, reloadLimit)
	defer cancel()
	for {
		answer, err := d.Info(ctx, client.InfoOptions{})
		if err != nil {
			return "", d.wrong("waiting until the private daemon knows the runtime "+path, err)
		}
		if _, ok := answer.Info.Runtimes[name]; ok {
			return name, nil
		}
		select {
		case <-ctx.Done():
			return "", &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("the private daemon does not take the runtime %s: %s", path, o.Log(400))}
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// configure writes what the daemon reads when it starts, and on SIGHUP.
func (o *ownDaemon) configure() error {
	b, err := json.MarshalIndent(o.config, "", "  ")
	if err != nil {
		return err
	}
	if o.given == nil {
		return os.WriteFile(o.file, b, 0o600)
	}
	return o.given.Write(o.file, b, 0o600)
}
