package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/buildconfig"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// ownDaemon is a private dockerd.
type ownDaemon struct {
	*private.Daemon
	fs     *private.FileSystem // what its data lies on, where that is ours
	root   string              // its data-root
	socket string

	mu     sync.Mutex
	config map[string]any // as it lies in file
	file   string
	given  *buildconfig.Configuration // by a build; nil: none can be

	switched switchedOff
	without  map[string]string // facts of what it has not of the user's
	spans    *engine.Collector // where it sends its own; nil: none
}

func (o *ownDaemon) host() string { return "unix://" + o.socket }

func (o *ownDaemon) facts() map[string]string {
	f := map[string]string{"daemon": private.Fact, "registry": relayed}
	maps.Copy(f, o.switched.facts())
	maps.Copy(f, o.without)
	maps.Copy(f, o.spans.Facts())
	if o.given != nil {
		maps.Copy(f, o.given.Facts(configuredBy, buildconfig.ByProcess))
	}
	if o.fs != nil {
		f["storage-device"] = "loop"
	}
	return f
}

// end ends the daemon, then takes the file system away that it lay on.
func (o *ownDaemon) end(ctx context.Context) error {
	if err := o.Close(ctx); err != nil {
		return err
	}
	if o.fs == nil {
		return nil
	}
	return o.fs.Close(ctx)
}

// wanted is what an environment wants of a daemon.
type wanted struct {
	storage, cgroups string // "" is the daemon's own choice
	rootless         bool
	set              string   // of builds; empty: the machine's own programs
	env              []string // by which the set is found
	given            *buildconfig.Configuration
	init             string // the file of a build of docker-init; empty: the machine's own
	switched         switchedOff
}

// name is short: sockets lie below a directory of this name.
func (w wanted) name() string {
	name := "docker"
	if w.rootless {
		name += "-rl"
	}
	if w.storage != "" {
		name += "-" + w.storage
	}
	if w.cgroups == "systemd" {
		name += "-sd"
	}
	if w.set != "" {
		name += "-" + w.set
	}
	return name + w.switched.short()
}

// reach gives the daemon that has what is asked for: the user's where it has
// it all, else a private one, with the function that lets go of it.
func (e *Engine) reach(ctx context.Context, kit *engine.Kit, spec engine.Spec) (*daemon, func(context.Context) error, error) {
	d, err := e.user(ctx, kit)
	if err != nil {
		return nil, nil, err
	}
	answer, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, nil, errors.Join(d.wrong("asking the daemon for its state", err), d.Close())
	}
	info := &answer.Info
	set, path, err := e.builtSet(kit)
	if err != nil {
		return nil, nil, errors.Join(err, d.Close())
	}
	if e.daemon == "" || e.suits(kit, info, spec) && kit.Built(spec.Level(engine.Runtime)) == "" && set == "" && !asksOwn(spec) {
		return d, nil, nil
	}
	if err := d.Close(); err != nil {
		return nil, nil, err
	}
	if no := private.Joined(kit, e.daemon); no != nil {
		return nil, nil, no
	}
	level := spec.Level(engine.Rootless)
	rootlessWanted := level == "yes" || level == engine.DefaultLevel && rootless(info) == "yes"
	if rootlessWanted {
		if d := e.rootlessDaemon(ctx, kit, spec); d != nil {
			return d, nil, nil
		}
	}
	for _, factor := range ofDaemon {
		if rootlessWanted && factor != engine.Rootless {
			continue // needs no root, and what is impossible the daemon says itself
		}
		if err := e.offered(kit, info, factor, spec.Level(factor)); err != nil {
			if err := e.privately(kit, info, factor, spec.Level(factor), err); err != nil {
				return nil, nil, err
			}
		}
	}
	if err := private.HostNetwork(spec); err != nil {
		return nil, nil, err
	}
	w := wanted{rootless: rootlessWanted, set: set, env: path, switched: switchedOffBy(spec)}
	if w.given, err = e.given(kit); err != nil {
		return nil, nil, err
	}
	if w.init, err = initPath(kit, w.given); err != nil {
		return nil, nil, err
	}
	if rootlessWanted && asksOwn(spec) {
		return nil, nil, &engine.Error{Class: record.Unsupported, Text: "settings of a daemon are tried on private ones of root's, and a rootless one is asked for"}
	}
	if set != "" && rootlessWanted {
		return nil, nil, &engine.Error{Class: record.Unsupported, Text: "a build of a daemon runs as root's, and a rootless one is asked for"}
	}
	if w.storage, err = storageOf(w.given, spec.Level(engine.Storage)); err != nil {
		return nil, nil, err
	}
	if w.storage == "" && !rootlessWanted {
		w.storage = info.Driver // what is not varied stays as the user's daemon has it
		if info.Driver == zfs {
			w.storage = "overlay2"
		}
	}
	if l := spec.Level(engine.Driver); l != engine.DefaultLevel {
		w.cgroups = l
	} else if !rootlessWanted {
		w.cgroups = info.CgroupDriver
	}
	own, leave, err := e.private.Get(ctx, kit.RunID+" "+w.name(), func(ctx context.Context) (*ownDaemon, func(context.Context) error, error) {
		o, err := e.startOwn(ctx, kit, info, w)
		if err != nil {
			return nil, nil, err
		}
		return o, o.end, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if d, err = e.connect(kit, own.host()); err != nil {
		return nil, nil, errors.Join(err, leave(ctx))
	}
	d.own = own
	return d, leave, nil
}

// suits says whether a daemon has what is asked for of the factors that are a
// daemon's.
func (e *Engine) suits(kit *engine.Kit, info *system.Info, spec engine.Spec) bool {
	for _, factor := range ofDaemon {
		if e.offered(kit, info, factor, spec.Level(factor)) != nil {
			return false
		}
	}
	return true
}

// rootlessDaemon is the ordinary user's own daemon, where one answers and has
// what is asked for; else nil.
func (e *Engine) rootlessDaemon(ctx context.Context, kit *engine.Kit, spec engine.Spec) *daemon {
	if kit.User == nil || kit.User.RuntimeDir == "" {
		return nil
	}
	socket := filepath.Join(kit.User.RuntimeDir, "docker.sock")
	if !exists(socket) {
		return nil
	}
	d, err := e.connect(kit, "unix://"+socket)
	if err != nil {
		return nil
	}
	ctx, cancel := child.Within(ctx, engine.DetectLimit)
	defer cancel()
	answer, err := d.Info(ctx, client.InfoOptions{})
	if err != nil || !e.suits(kit, &answer.Info, spec) {
		_ = d.Close() // it was only looked at
		return nil
	}
	return d
}

// loopBytes is the size of a file system for a private daemon: sparse, so that
// it takes what is written.
const loopBytes = 4 << 30

// zfs keeps layers in the pool that the daemon's folder lies in, as data sets of their
// own, which outlive the folder: no daemon of ours has it.
const zfs = "zfs"

// zfsMagic is what statfs(2) tells of ZFS, which is not of the kernel's own.
const zfsMagic = 0x2fc12fc1

// needs says which file system the data of a driver has to lie on; "" is
// whatever the run's directory lies on.
func needs(driver, dir string) string {
	switch driver {
	case "btrfs":
		return "btrfs"
	case "overlay2", "overlayfs":
		var st unix.Statfs_t
		if unix.Statfs(dir, &st) == nil && (st.Type == unix.OVERLAYFS_SUPER_MAGIC || st.Type == unix.TMPFS_MAGIC || st.Type == zfsMagic) {
			return "ext4" // no overlay lies on an overlay, nor on a ZFS before 2.2, and a disk is no memory
		}
	}
	return ""
}

// startOwn starts a private daemon.
func (e *Engine) startOwn(ctx context.Context, kit *engine.Kit, info *system.Info, w wanted) (*ownDaemon, error) {
	o := &ownDaemon{given: w.given, switched: w.switched}
	if w.rootless {
		return o, e.startRootless(ctx, kit, w, o)
	}
	o.without, o.spans = notTakenOver(info), kit.Spans
	env := w.env
	if w.given != nil {
		env = slices.Concat(env, w.given.Variables)
	}
	env = slices.Concat(env, kit.Spans.Env())
	opts := private.Options{
		Name: w.name(), Env: env, Limit: 40 * time.Second, Ready: e.readiness(kit, o), Unsynced: w.switched.unsynced(), Reaches: kit.Spans.Reach(), Linger: kit.Spans.Linger(),
		// Directories of its own there, so that the private daemon neither finds
		// the user's containerd nor leaves sockets and keys behind.
		Hide: []string{"/etc/docker", "/run/docker", "/run/containerd"},
	}
	if fs := needs(w.storage, kit.Dir); fs != "" {
		f, err := private.MakeFileSystem(ctx, kit, w.name(), fs, loopBytes)
		if err != nil {
			return nil, err
		}
		o.fs, opts.FileSystems = f, []string{f.Path}
	}
	group := "plimsoll-" + kit.RunID + "-" + w.name()
	parent := "/" + group // like docker's own /docker: a relative one lies below the daemon's group
	if w.cgroups == "systemd" {
		group = "plimsoll_" + kit.RunID + "_" + strings.ReplaceAll(w.name(), "-", "_") + ".slice"
		parent = group
	}
	opts.Cgroups = []string{group}
	opts.Configure = func(dir string) ([]string, error) {
		o.root, o.socket = filepath.Join(dir, "data"), filepath.Join(dir, "sock")
		if o.fs != nil {
			o.root = filepath.Join(o.fs.Path, "data")
		}
		config := map[string]any{
			"data-root": o.root, "exec-root": "/run/docker", "pidfile": filepath.Join(dir, "pid"),
			"hosts": []string{o.host()}, "runtimes": runtimesOf(info), "default-runtime": info.DefaultRuntime,
			"exec-opts": []string{"native.cgroupdriver=" + w.cgroups}, "cgroup-parent": parent,
			"storage-driver": w.storage, "log-driver": info.LoggingDriver, "live-restore": false,
		}
		if w.storage == "overlayfs" || w.storage == "native" {
			config["features"] = map[string]bool{"containerd-snapshotter": true}
		}
		if err := takeOver(info, config, dir); err != nil {
			return nil, err
		}
		w.switched.configure(config)
		o.overlay(config)
		if w.init != "" {
			config[initKey] = w.init
		}
		program, err := kit.LookPath(e.daemon)
		if err != nil {
			return nil, err
		}
		o.config, o.file = config, filepath.Join(dir, "dockerd.json")
		return []string{program, "--config-file", o.file}, o.configure()
	}
	var err error
	if o.Daemon, err = private.Start(ctx, kit, opts); err != nil {
		if o.fs != nil {
			err = errors.Join(err, o.fs.Close(ctx))
		}
		return nil, err
	}
	return o, nil
}

// readiness asks a daemon whether it answers.
func (e *Engine) readiness(kit *engine.Kit, o *ownDaemon) func(context.Context, *private.Daemon) error {
	return func(ctx context.Context, _ *private.Daemon) error {
		d, err := e.connect(kit, o.host())
		if err != nil {
			return err
		}
		defer d.Close()
		return d.ping(ctx)
	}
}

// runtimesOf gives the runtimes of a daemon as a configuration file has them,
// without those that every daemon has.
func runtimesOf(info *system.Info) map[string]any {
	all := map[string]any{}
	for name, r := range info.Runtimes {
		if name == "runc" || strings.HasPrefix(name, "io.containerd.") {
			continue
		}
		entry := map[string]any{}
		if r.Path != "" {
			entry["path"] = r.Path
		}
		if len(r.Args) > 0 {
			entry["runtimeArgs"] = r.Args
		}
		if r.Type != "" {
			entry["runtimeType"] = r.Type
			entry["options"] = r.Options
		}
		all[name] = entry
	}
	return all
}

// unavailable is an engine.Error of that class.
func unavailable(fix, format string, args ...any) *engine.Error {
	return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf(format, args...), Fix: fix}
}

// ownerOf is the user whose a daemon's socket is, and so the daemon.
func ownerOf(socket string) string {
	var st unix.Stat_t
	if unix.Stat(socket, &st) != nil {
		return ""
	}
	id := strconv.FormatUint(uint64(st.Uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
