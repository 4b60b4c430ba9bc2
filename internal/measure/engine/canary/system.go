package canary

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

func lxd(ctx context.Context, f *Flock) error {
	return f.projects(ctx, "lxd", "lxc", "LXD", firstOf("/var/lib/lxd/unix.socket", "/run/plimsoll-lab/lxd/unix.socket"))
}

func incus(ctx context.Context, f *Flock) error {
	return f.projects(ctx, "incus", "incus", "INCUS", firstOf("/var/lib/incus/unix.socket", "/run/plimsoll-lab/incus/unix.socket"))
}

// projects plants projects with a profile, and a storage pool with a volume. The
// client gets a configuration of the test's own, and the daemon's socket.
func (f *Flock) projects(ctx context.Context, name, client, prefix, socket string) error {
	conf, err := f.room()
	if err != nil {
		return err
	}
	p := program(client, prefix+"_CONF="+conf)
	if socket != "" {
		p = program(client, prefix+"_CONF="+conf, prefix+"_SOCKET="+socket)
	}
	e := tended{f, name, p, p.with("query", "/1.0")}
	if err := e.reach.run(ctx); err != nil {
		return cannot("%v", err)
	}
	pool := "plimsoll-" + f.id + "-dir"
	label := "user." + engine.Label + "=" + f.id
	if err := e.plant(ctx, "storage pool "+pool, p.with("storage", "show", pool).saying(f.id), []tool{p.with("storage", "delete", pool)},
		"storage", "create", pool, "dir", label); err != nil {
		return err
	}
	if err := e.plant(ctx, "volume of "+pool, p.with("storage", "volume", "show", pool, "data"), []tool{p.with("storage", "volume", "delete", pool, "data")},
		"storage", "volume", "create", pool, "data"); err != nil {
		return err
	}
	for _, project := range []string{"plimsoll-dev", "plimsoll-" + f.id} {
		in := []string{"precious", "--project", project}
		if err := e.plant(ctx, "project "+project, p.with("project", "show", project).saying(f.id), []tool{p.with("project", "delete", project)},
			"project", "create", project, "--config", label, "--config", "user.plimsoll="+f.id); err != nil {
			return err
		}
		if err := e.plant(ctx, "profile of "+project, p.with("profile", "show").with(in...), []tool{p.with("profile", "delete").with(in...)},
			append([]string{"profile", "create"}, in...)...); err != nil {
			return err
		}
	}
	return nil
}

// lxc plants a running container in a directory of the user's.
func lxc(ctx context.Context, f *Flock) error {
	if os.Geteuid() != 0 {
		return cannot("it needs root")
	}
	dir, err := f.room()
	if err != nil {
		return err
	}
	name := "plimsoll-" + f.id + "-1"
	root := filepath.Join(dir, "root")
	for _, d := range []string{"proc", "sys", "dev", "sbin"} {
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(root, image.ProbePath), probe.Binary(), 0o755); err != nil { //nolint:gosec // a program
		return err
	}
	config := filepath.Join(dir, "config")
	text := "lxc.rootfs.path = dir:" + root + "\nlxc.net.0.type = empty\nlxc.apparmor.profile = unconfined\nlxc.uts.name = canary\nlxc.init.cmd = " + strings.Join(stay(), " ") + "\n"
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	p := func(client string) tool { return program(client).with("-P", dir, "-n", name) }
	running := p("lxc-info").with("-s").saying("RUNNING")
	if err := f.after(step{What: "lxc container", Undo: []tool{p("lxc-stop").with("-k")}, Look: &running}); err != nil {
		return err
	}
	if err := p("lxc-start").with("-f", config, "-d").run(ctx); err != nil {
		return cannot("%v", err)
	}
	f.add("lxc container "+name, running.run)
	return nil
}
