package containerd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// fsBytes is how large the file system of a private daemon is. The file is
// sparse: only what is used takes space.
const fsBytes = 1 << 30

// needs are the snapshotters that a private daemon can have, with the file
// system that each wants; empty where any will do.
var needs = map[string]string{"overlayfs": "", "native": "", "btrfs": "btrfs"}

// canStart says why no private daemon with a snapshotter can be had, or nil.
func canStart(kit *engine.Kit, snapshotter string) error {
	fs, ok := needs[snapshotter]
	if !ok {
		return errors.New("no private daemon is started for it")
	}
	if err := cmp.Or(private.Joined(kit, daemonProgram), private.Root(kit)); err != nil {
		return err
	}
	if _, err := kit.LookPath(daemonProgram); err != nil {
		return &engine.Error{Class: record.Unavailable, Text: "the program containerd is not on the PATH", Fix: "apt-get install containerd"}
	}
	if fs == "" {
		return nil
	}
	if err := private.CanMake(kit, fs); err != nil {
		return err
	}
	return nil
}

// ownDaemon is a containerd of ours.
type ownDaemon struct {
	*private.Daemon
	socket string
	state  string // where the shims' runtimes keep their state, as we can reach it
	given  *buildconfig.Configuration
}

// start starts a daemon with a snapshotter. The metadata, whose database is
// synchronised at every change, lies beside the run's other files whatever the
// snapshotter; only the snapshots lie on the file system made for them.
func start(ctx context.Context, kit *engine.Kit, snapshotter, set string, env []string, unsynced bool) (*ownDaemon, func(context.Context) error, error) {
	name := "ctrd-" + snapshotter
	if set != "" { // short, since the name is part of a socket's path
		name = fmt.Sprintf("ctrd-%.6s-%c", set, snapshotter[0])
	}
	if unsynced {
		name += "-ns"
	}
	with, err := containerdclient.Configured(kit)
	if err != nil {
		return nil, nil, err
	}
	o := private.Options{Name: name, Env: slices.Concat(env, with.Variables, kit.Spans.Env()), Hide: []string{"/run/containerd"}, Unsynced: unsynced, Reaches: kit.Spans.Reach(), Linger: kit.Spans.Linger()}
	fsPath := ""
	var fs *private.FileSystem
	if kind := needs[snapshotter]; kind != "" {
		if fs, err = private.MakeFileSystem(ctx, kit, name, kind, fsBytes); err != nil {
			return nil, nil, err
		}
		fsPath = fs.Path
		o.FileSystems = []string{fsPath}
	}
	undo := func(ctx context.Context) error {
		if fs == nil {
			return nil
		}
		return fs.Close(ctx)
	}
	program, err := kit.LookPath(daemonProgram)
	if err != nil {
		return nil, nil, errors.Join(err, undo(ctx))
	}
	socket := ""
	o.Configure = func(dir string) ([]string, error) {
		socket = filepath.Join(dir, "c.sock")
		text, err := containerdclient.Lay(with, configuration(ctx, program, dir, snapshotter, fsPath, kit.Spans))
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, containerdclient.ConfigFile)
		if err := with.Write(path, text, 0o600); err != nil {
			return nil, err
		}
		return []string{program, "--config", path}, containerdclient.Understood(ctx, with, program, path)
	}
	o.Ready = func(ctx context.Context, _ *private.Daemon) error {
		d, _, err := dial(ctx, kit, socket)
		if err != nil {
			return err
		}
		return d.Close()
	}
	d, err := private.Start(ctx, kit, o)
	if err != nil {
		return nil, nil, errors.Join(err, undo(context.WithoutCancel(ctx)))
	}
	end := func(ctx context.Context) error {
		if err := d.Close(ctx); err != nil {
			return err // it still holds the file system
		}
		return undo(ctx)
	}
	return &ownDaemon{Daemon: d, socket: socket, state: d.Path(stateRoot), given: with}, end, nil
}

// versionIn reads what containerd prints on --version.
func versionIn(out string) string {
	if f := strings.Fields(out); len(f) > 2 {
		return strings.TrimPrefix(f[2], "v")
	}
	return ""
}

// configuration is that of a containerd with nothing but what a native client
// needs. 1.x reads version 2 of the format, 2.x reads it too.
func configuration(ctx context.Context, program, dir, snapshotter, fsPath string, spans *engine.Collector) string {
	format := 2
	if out, err := tool(ctx, program, "--version"); err == nil && strings.HasPrefix(versionIn(out), "2.") {
		format = 3
	}
	text := fmt.Sprintf(`version = %d
root = %q
state = %q
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.nri.v1.nri"]
[grpc]
address = %q
[plugins."io.containerd.internal.v1.opt"]
path = %q
`, format, filepath.Join(dir, "root"), filepath.Join(dir, "state"), filepath.Join(dir, "c.sock"), filepath.Join(dir, "opt"))
	if fsPath != "" {
		text += fmt.Sprintf("[plugins.\"%s.%s\"]\nroot_path = %q\n", snapshotterType, snapshotter, filepath.Join(fsPath, "snapshots"))
	}
	return text + containerdclient.Tracing(spans, format == 3)
}

func (env *environment) Configured() error {
	if env.d.own == nil {
		return nil
	}
	return env.d.given.Holds(env.d.own.PID)
}
