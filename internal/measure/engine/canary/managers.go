package canary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// archive is an image as a user may have built one: its name is one of ours.
func (f *Flock) archive(ctx context.Context) (path, tag string, err error) {
	store := image.NewStore(filepath.Join(f.t.TempDir(), "images"), probe.Binary(), image.Options{})
	path, err = store.Path(ctx, "payload", image.DockerArchive)
	return path, store.Tag("payload", ""), err
}

// stay is a command that runs in a container of that image.
func stay() []string { return probe.PayloadArgs{Word: "canary", Stay: true}.Argv(image.ProbePath) }

func docker(ctx context.Context, f *Flock) error {
	return f.manager(ctx, "docker", tool{argv: []string{"docker"}}, "info")
}

func podman(ctx context.Context, f *Flock) error {
	if os.Geteuid() != 0 {
		return cannot("the user's own podman is enough")
	}
	return f.manager(ctx, "podman", tool{argv: []string{"podman"}}, "info")
}

func podmanRootless(ctx context.Context, f *Flock) error {
	u := f.kit.User
	if u == nil {
		return cannot("there is no ordinary user: %s", f.kit.NoUser)
	}
	p := tool{argv: []string{"podman"}, env: []string{"HOME=" + u.Home, "XDG_RUNTIME_DIR=" + u.RuntimeDir, "USER=" + u.Name}}
	if os.Geteuid() == 0 {
		p.as = u
	}
	return f.manager(ctx, "podman of "+u.Name, p, "info")
}

// manager plants in Docker or Podman: images, a running container, a volume
// and a network.
func (f *Flock) manager(ctx context.Context, name string, p tool, probing ...string) error {
	if _, err := p.run(ctx, probing...); err != nil {
		return cannot("%v", err)
	}
	path, tag, err := f.archive(ctx)
	if err != nil {
		return err
	}
	if p.as != nil { // the user must be able to read it
		if path, err = f.lend(path); err != nil {
			return err
		}
	}
	if _, err := p.run(ctx, "image", "inspect", tag); err == nil {
		return cannot("there is an image %s", tag)
	}
	if _, err := p.run(ctx, "load", "--input", path); err != nil {
		return err
	}
	tags := []string{tag, "localhost/plimsoll/web:latest", "localhost/plimsoll/payload:" + f.id, "127.0.0.1:5000/plimsoll/payload:" + f.id}
	f.after("images of "+name, func(ctx context.Context) error {
		var errs []error
		for _, t := range tags {
			_, err := p.run(ctx, "rmi", t)
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	})
	for _, t := range tags {
		if t != tag {
			if _, err := p.run(ctx, "tag", tag, t); err != nil {
				return err
			}
		}
		f.add(name+" image "+t, p.says("", "image", "inspect", "--format", "{{.Id}}", t))
	}
	labels := []string{"--label", "plimsoll=" + f.id, "--label", engine.Label + "=" + f.id}
	volume := "plimsoll-" + f.id
	if _, err := p.run(ctx, append(append([]string{"volume", "create"}, labels...), volume)...); err != nil {
		return err
	}
	f.after("volume of "+name, func(ctx context.Context) error { _, err := p.run(ctx, "volume", "rm", volume); return err })
	f.add(name+" volume "+volume, p.says(volume, "volume", "inspect", volume))
	for _, c := range []struct{ name, image string }{{"plimsoll-" + f.id + "-1", tag}, {"plimsoll-web", "localhost/plimsoll/web:latest"}} {
		args := append([]string{"run", "--detach", "--network", "none", "--name", c.name}, labels...)
		// Not every machine lets podman raise its limits.
		args = append(args, "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
			"--volume", volume+":/tmp", "--entrypoint", stay()[0], c.image)
		f.after(name+" container", func(ctx context.Context) error { _, err := p.run(ctx, "rm", "--force", c.name); return err })
		if _, err := p.run(ctx, append(args, stay()[1:]...)...); err != nil {
			return err
		}
		f.add(name+" container "+c.name, p.says("true", "inspect", "--format", "{{.State.Running}}", c.name))
	}
	return nil
}

// lend copies a file to where an ordinary user can read it.
func (f *Flock) lend(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "canary-")
	if err != nil {
		return "", err
	}
	f.after(dir, func(context.Context) error { return os.RemoveAll(dir) })
	to := filepath.Join(dir, filepath.Base(path))
	return to, errors.Join(os.Chmod(dir, 0o755), os.WriteFile(to, b, 0o644)) //nolint:gosec // an image with nothing in it but the probe
}

// containerd plants a namespace that is called as ours once was, with an image
// and a container, and more of such names.
func containerd(ctx context.Context, f *Flock) error {
	socket := ""
	for _, s := range []string{"/run/containerd/containerd.sock", "/run/plimsoll-lab/containerd/containerd.sock"} {
		if _, err := os.Stat(s); err == nil && socket == "" {
			socket = s
		}
	}
	if socket == "" || os.Geteuid() != 0 {
		return cannot("there is no containerd, or we are not root")
	}
	path, tag, err := f.archive(ctx)
	if err != nil {
		return err
	}
	for _, ns := range []string{engine.Namespace, "plimsoll-" + f.id, "plimsoll-nerdctl-" + f.id} {
		p := tool{argv: []string{"ctr", "--address", socket, "--namespace", ns}}
		if _, err := p.run(ctx, "images", "import", path); err != nil {
			return cannot("%v", err)
		}
		f.after("containerd namespace "+ns, func(ctx context.Context) error {
			_, err := p.run(ctx, "images", "rm", "--sync", tag)
			if list, lerr := p.run(ctx, "leases", "ls", "-q"); lerr == nil {
				for l := range strings.FieldsSeq(list) {
					if strings.HasPrefix(l, "plimsoll-"+f.id) {
						_, lerr := p.run(ctx, "leases", "rm", l)
						err = errors.Join(err, lerr)
					}
				}
			}
			_, nerr := p.run(ctx, "namespaces", "rm", ns)
			// On version 1 the containers' groups lay in one of the namespace's name.
			groups, _ := filepath.Glob("/sys/fs/cgroup/*/" + ns)
			for _, g := range groups {
				_ = os.Remove(g) // where it is empty: it may be another's
			}
			return errors.Join(err, nerr)
		})
		f.add("containerd image "+ns+" "+tag, p.says(tag, "images", "ls", "--quiet"))
		name := "plimsoll-" + f.id + "-1"
		args := []string{"run", "--detach", "--label", engine.Label + "=" + f.id, "--label", "plimsoll=" + f.id, tag, name}
		if _, err := p.run(ctx, append(args, stay()...)...); err != nil {
			return err
		}
		f.after("containerd container "+name, func(ctx context.Context) error {
			_, err := p.run(ctx, "tasks", "kill", "--signal", "KILL", name)
			_, derr := p.run(ctx, "tasks", "rm", "--force", name)
			_, cerr := p.run(ctx, "containers", "rm", name)
			_ = derr // a task that has ended is removed with its container
			return errors.Join(err, cerr)
		})
		f.add("containerd container "+ns+" "+name, p.says("RUNNING", "tasks", "ls"))
		if _, err := p.run(ctx, "leases", "create", "--id", "plimsoll-"+f.id+"-lease"); err != nil {
			return err
		}
		f.add("containerd lease in "+ns, p.says("plimsoll-"+f.id+"-lease", "leases", "ls", "-q"))
	}
	return nil
}

func lxd(ctx context.Context, f *Flock) error {
	return f.project(ctx, "lxd", tool{argv: []string{"lxc"}, env: f.socketOf("LXD", "/var/lib/lxd/unix.socket", "/run/plimsoll-lab/lxd/unix.socket")})
}

func incus(ctx context.Context, f *Flock) error {
	return f.project(ctx, "incus", tool{argv: []string{"incus"}, env: f.socketOf("INCUS", "/var/lib/incus/unix.socket", "/run/plimsoll-lab/incus/unix.socket")})
}

// socketOf names the daemon's socket and a configuration of the test's own.
func (f *Flock) socketOf(prefix string, sockets ...string) []string {
	env := []string{prefix + "_CONF=" + f.t.TempDir()}
	for _, s := range sockets {
		if _, err := os.Stat(s); err == nil {
			return append(env, prefix+"_SOCKET="+s)
		}
	}
	return env
}

// project plants projects with a profile, and a storage pool with a volume.
func (f *Flock) project(ctx context.Context, name string, p tool) error {
	if _, err := p.run(ctx, "query", "/1.0"); err != nil {
		return cannot("%v", err)
	}
	pool := "plimsoll-" + f.id + "-dir"
	if _, err := p.run(ctx, "storage", "create", pool, "dir", "user."+engine.Label+"="+f.id); err != nil {
		return err
	}
	f.after(name+" pool", func(ctx context.Context) error { _, err := p.run(ctx, "storage", "delete", pool); return err })
	f.add(name+" storage pool "+pool, p.says(pool, "storage", "list", "--format", "csv"))
	if _, err := p.run(ctx, "storage", "volume", "create", pool, "data"); err != nil {
		return err
	}
	f.after(name+" volume", func(ctx context.Context) error {
		_, err := p.run(ctx, "storage", "volume", "delete", pool, "data")
		return err
	})
	f.add(name+" volume", p.says("data", "storage", "volume", "list", pool, "--format", "csv"))
	for _, project := range []string{"plimsoll-dev", "plimsoll-" + f.id} {
		if _, err := p.run(ctx, "project", "create", project, "--config", "user."+engine.Label+"="+f.id, "--config", "user.plimsoll="+f.id); err != nil {
			return err
		}
		f.after(name+" project", func(ctx context.Context) error { _, err := p.run(ctx, "project", "delete", project); return err })
		if _, err := p.run(ctx, "profile", "create", "precious", "--project", project); err != nil {
			return err
		}
		f.after(name+" profile", func(ctx context.Context) error {
			_, err := p.run(ctx, "profile", "delete", "precious", "--project", project)
			return err
		})
		f.add(name+" project "+project, p.says("precious", "profile", "list", "--project", project, "--format", "csv"))
	}
	return nil
}

// lxc plants a running container in a directory of the user's.
func lxc(ctx context.Context, f *Flock) error {
	if os.Geteuid() != 0 {
		return cannot("it needs root")
	}
	dir := f.t.TempDir()
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
	p := func(program string) tool { return tool{argv: []string{program, "-P", dir, "-n", name}} }
	if _, err := p("lxc-start").run(ctx, "-f", config, "-d"); err != nil {
		return cannot("%v", err)
	}
	f.after("lxc container", func(ctx context.Context) error { _, err := p("lxc-stop").run(ctx, "-k"); return err })
	f.add("lxc container "+name, p("lxc-info").says("RUNNING", "-s"))
	return nil
}
