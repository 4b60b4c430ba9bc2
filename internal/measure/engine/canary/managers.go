package canary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest/images"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// archive is an image as a user may have built one: its name is one of ours.
func (f *Flock) archive(ctx context.Context) (path, tag string, err error) {
	store := images.New(filepath.Join(f.t.TempDir(), "images"))
	path, err = store.Path(ctx, "payload", image.DockerArchive)
	return path, store.Tag("payload", ""), err
}

// stay is a command that runs in a container of that image.
func stay() []string { return probe.PayloadArgs{Word: "canary", Stay: true}.Argv(image.ProbePath) }

// tended is an engine's client, which plants canaries one by one.
type tended struct {
	f     *Flock
	name  string
	tool  tool
	reach tool // succeeds while the engine answers
}

// plant runs a command that makes a canary. Before that it is written down how it
// is undone; look succeeds as long as it is there and is ours.
func (e tended) plant(ctx context.Context, what string, look tool, undo []tool, make ...string) error {
	what = e.name + " " + what
	s := step{What: what, Undo: undo, Look: &look, Reach: &e.reach}
	if err := e.f.after(s); err != nil {
		return err
	}
	if err := e.tool.with(make...).run(ctx); err != nil {
		// What is there may be another's: it is looked at before it is taken away.
		e.f.undo[len(e.f.undo)-1].do = s.makeUp
		if strings.Contains(err.Error(), "already exists") {
			return cannot("%v", err)
		}
		return err
	}
	e.f.add(what, look.run)
	return nil
}

func docker(ctx context.Context, f *Flock) error { return f.manager(ctx, "docker", program("docker")) }

func podman(ctx context.Context, f *Flock) error {
	if os.Geteuid() != 0 {
		return cannot("the user's own podman is enough")
	}
	return f.manager(ctx, "podman", program("podman"))
}

func podmanRootless(ctx context.Context, f *Flock) error {
	u := f.kit.User
	if u == nil {
		return cannot("there is no ordinary user: %s", f.kit.NoUser)
	}
	p := program("podman", "HOME="+u.Home, "XDG_RUNTIME_DIR="+u.RuntimeDir, "USER="+u.Name)
	if os.Geteuid() == 0 {
		p.As = u
	}
	return f.manager(ctx, "podman of "+u.Name, p)
}

// manager plants in Docker or Podman: images, running containers and a volume.
func (f *Flock) manager(ctx context.Context, name string, p tool) error {
	e := tended{f, name, p, p.with("info")}
	if err := e.reach.run(ctx); err != nil {
		return cannot("%v", err)
	}
	path, tag, err := f.archive(ctx)
	if err != nil {
		return err
	}
	if p.As != nil { // the user must be able to read it
		if path, err = f.lend(path); err != nil {
			return err
		}
	}
	for i, t := range []string{tag, "localhost/plimsoll/web:latest", "localhost/plimsoll/payload:" + f.id, "127.0.0.1:5000/plimsoll/payload:" + f.id} {
		look, how := p.with("image", "inspect", "--format", "{{.Id}}", t), []string{"load", "--input", path}
		if look.run(ctx) == nil {
			return cannot("there is an image %s", t)
		}
		if i > 0 {
			how = []string{"tag", tag, t}
		}
		if err := e.plant(ctx, "image "+t, look, []tool{p.with("rmi", t)}, how...); err != nil {
			return err
		}
	}
	labels := []string{"--label", "plimsoll=" + f.id, "--label", engine.Label + "=" + f.id}
	volume := "plimsoll-" + f.id
	look := p.with("volume", "inspect", "--format", `{{index .Labels "`+engine.Label+`"}}`, volume).saying(f.id)
	if err := e.plant(ctx, "volume "+volume, look, []tool{p.with("volume", "rm", volume)},
		append(append([]string{"volume", "create"}, labels...), volume)...); err != nil {
		return err
	}
	for _, c := range []struct{ name, image string }{{"plimsoll-" + f.id + "-1", tag}, {"plimsoll-web", "localhost/plimsoll/web:latest"}} {
		args := append([]string{"run", "--detach", "--network", "none", "--name", c.name}, labels...)
		// Not every machine lets podman raise its limits.
		args = append(args, "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
			"--volume", volume+":/tmp", "--entrypoint", stay()[0], c.image)
		seen := func(field string) tool { return p.with("container", "inspect", "--format", field, c.name) }
		if err := e.plant(ctx, "container "+c.name, seen(`{{index .Config.Labels "`+engine.Label+`"}}`).saying(f.id),
			[]tool{p.with("rm", "--force", c.name)}, append(args, stay()[1:]...)...); err != nil {
			return err
		}
		f.add(name+" container "+c.name+", running", seen("{{.State.Running}}").saying("true").run)
	}
	return nil
}

// lend copies a file to where an ordinary user can read it.
func (f *Flock) lend(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	dir, err := f.room()
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, filepath.Base(path))
	return to, errors.Join(os.Chmod(dir, 0o755), os.WriteFile(to, b, 0o644)) //nolint:gosec // an image with nothing in it but the probe
}
