package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/host/proc"
)

// startRootless starts Docker's rootless daemon as the ordinary user, by
// Docker's own script. RootlessKit makes its namespaces. Its state, data and
// configuration are below the run's directory: the user's own are not touched.
func (e *Engine) startRootless(ctx context.Context, kit *engine.Kit, w wanted, o *ownDaemon) error {
	bus := host.UserBus(kit.User.RuntimeDir)
	opts := private.Options{
		Name: w.name(), Limit: 60 * time.Second, OwnNamespaces: true, Ready: e.readiness(kit, o),
		UserDirs: []string{"x", "data", "config", "kit", "tmp"},
	}
	if kit.Root {
		opts.User = kit.User
	}
	opts.Configure = func(dir string) ([]string, error) {
		o.root, o.socket = filepath.Join(dir, "data"), filepath.Join(dir, "x", "sock")
		config := filepath.Join(dir, "none.json")
		argv := []string{rootlessScript(kit), "--data-root", o.root, "--exec-root", filepath.Join(dir, "x", "exec"),
			"--pidfile", filepath.Join(dir, "x", "pid"), "--host", o.host(), "--config-file", config}
		if bus == "" && proc.SystemdRuns() {
			// Its default there is systemd's driver, which asks the user's manager.
			argv = append(argv, "--exec-opt", "native.cgroupdriver=cgroupfs")
		}
		if w.storage != "" {
			argv = append(argv, "--storage-driver", w.storage)
		}
		return argv, os.WriteFile(config, []byte("{}\n"), 0o644)
	}
	top := filepath.Join(kit.Dir, "private", w.name())
	opts.Env = []string{
		adapter.Path, "HOME=" + kit.User.Home, "USER=" + kit.User.Name, "LOGNAME=" + kit.User.Name,
		"XDG_RUNTIME_DIR=" + filepath.Join(top, "x"), "XDG_CONFIG_HOME=" + filepath.Join(top, "config"),
		"TMPDIR=" + filepath.Join(top, "tmp"), // for the stacks of a containerd that dockerd has lost patience with
		"XDG_DATA_HOME=" + filepath.Join(top, "data"), "DOCKERD_ROOTLESS_ROOTLESSKIT_NET=slirp4netns",
		"DOCKERD_ROOTLESS_ROOTLESSKIT_FLAGS=--state-dir=" + filepath.Join(top, "kit"),
	}
	if bus != "" {
		opts.Env = append(opts.Env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	}
	var err error
	if o.Daemon, err = private.Start(ctx, kit, opts); err != nil && !exists("/dev/net/tun") {
		err = errors.Join(err, unavailable(engine.Modprobe("tun"), "the kernel has no /dev/net/tun, which slirp4netns wants"))
	}
	return err
}
