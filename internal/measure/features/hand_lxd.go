package features

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
)

// lxd spells the commands of LXD's client, or Incus's, in a project of the
// run's own.
func lxd(client, variable string) func(*bench) {
	return func(b *bench) {
		project := "plimsoll-" + b.kit.RunID
		b.env = []string{"HOME=" + filepath.Join(b.dir, "home"), variable + "_CONF=" + b.dir, variable + "_SOCKET=" + b.where}
		h := hand{program: []string{client, "--project", project}}
		h.provide = func(t *try, s *sample) string {
			t.project(project, client)
			alias := t.b.enter(engine.KindImage, s.name)
			t.cleanAll(h.drop(alias))
			t.must(h.cmd("image", "import", s.unified(t), "--alias", alias, "user."+t.b.label())...)
			return alias
		}
		h.keep = func(name, image string, opts []string, _ ...string) []string {
			return h.argv(append([]string{"launch", "--quiet", "--config", "user." + b.label(), image, name}, opts...))
		}
		h.inside = func(name string, argv ...string) []string {
			return h.argv(append([]string{"exec", name, "--"}, argv...))
		}
		h.remove = func(name string) [][]string { return [][]string{h.cmd("delete", "--force", name)} }
		h.drop = func(image string) [][]string { return [][]string{h.cmd("image", "delete", image)} }
		b.hand = h
	}
}

// project makes the run's project in the daemon, with images and profiles of
// its own. Its default profile has a root disk in the pool of the user's own,
// and no network.
func (t *try) project(name, client string) {
	once(t, "project", func(t *try) bool {
		pool := strings.TrimSpace(t.run(client, "profile", "device", "get", "default", "root", "pool").out)
		if pool == "" {
			// One of the run's own, as a user makes who has none.
			pool = name + "-dir"
			t.b.enter(engine.KindPool, pool)
			t.must(client, "storage", "create", pool, "dir", "user."+t.b.label())
			t.clean([]string{client, "storage", "delete", pool})
		}
		t.b.enter(engine.KindProject, name)
		t.must(client, "project", "create", name, "-c", "features.images=true", "-c", "features.profiles=true",
			"-c", "features.storage.volumes=true", "-c", "user."+t.b.label())
		t.clean([]string{client, "project", "delete", name})
		t.must(client, "--project", name, "profile", "device", "add", "default", "root", "disk", "path=/", "pool="+pool)
		t.must(client, "--project", name, "profile", "set", "default", "raw.lxc", "lxc.init.cmd = "+image.ProbePath+" init")
		return true
	})
}

// unified is the image as LXD takes it in one file.
func (s *sample) unified(t *try) string {
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	meta := fmt.Sprintf("architecture: %s\ncreation_date: 1577836800\nproperties:\n  description: plimsoll %s\n", arch, s.name)
	return s.rootTar(t, "rootfs", entry{path: "metadata.yaml", data: []byte(meta)})
}
