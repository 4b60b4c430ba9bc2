package features

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	adapter "plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/host/proc"
)

// containerd spells the commands of ctr, in the namespace of the run that
// Plimsoll's adapter uses too.
func containerd(b *bench) {
	b.env = []string{"HOME=" + filepath.Join(b.dir, "home")}
	h := hand{program: []string{"ctr", "--address", b.where, "--namespace", adapter.Namespace(b.kit.RunID)}}
	fifos := filepath.Join(b.dir, "fifos") // a ctr that is killed leaves them
	run := func(verb, name, image string, opts, argv []string) []string {
		args := append([]string{"run", verb, "--fifo-dir", fifos, "--label", b.label(), "--cgroup", "/" + name}, opts...)
		return h.argv(append(append(args, image, name), argv...))
	}
	h.once = func(name, image string, opts []string, argv ...string) []string {
		return run("--rm", name, image, opts, argv)
	}
	h.keep = func(name, image string, opts []string, argv ...string) []string {
		return run("--detach", name, image, opts, argv)
	}
	h.inside = func(name string, argv ...string) []string {
		return h.argv(append([]string{"tasks", "exec", "--fifo-dir", fifos, "--exec-id", b.unique(), name}, argv...))
	}
	h.remove = func(name string) [][]string {
		return [][]string{h.cmd("tasks", "delete", "--force", name), h.cmd("containers", "delete", name)}
	}
	h.provide = func(t *try, s *sample) string {
		tag := b.tag(s.name)
		t.cleanAll(h.drop(tag))
		t.must(h.cmd("images", "import", s.dockerArchive(t, tag))...)
		return tag
	}
	h.pull = func(ref string) []string { return h.cmd("images", "pull", "--plain-http", ref) }
	h.push = func(_, ref string) []string { return h.cmd("images", "push", "--plain-http", ref) }
	h.drop = func(image string) [][]string { return [][]string{h.cmd("images", "delete", "--sync", image)} }
	h.layers = func(t *try, ref string) []string {
		at := filepath.Join(t.dir, "mounted")
		t.need("making a mount point", os.MkdirAll(at, 0o700))
		t.must(h.cmd("images", "mount", ref, at)...)
		defer t.run(h.cmd("images", "unmount", "--rm", at)...)
		return mounted(t, at)
	}
	h.unpacked = func(t *try) []string {
		out := t.must(h.cmd("plugins", "list", "--detailed", "id==overlayfs")...)
		for _, line := range strings.Split(out, "\n") {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "root" {
				return []string{filepath.Join(f[1], "snapshots", "*", "fs")}
			}
		}
		t.untried("containerd does not report where it unpacks images")
		return nil
	}
	b.hand = h
	socket := b.where
	// Its namespace is made before the first attempt, by the adapter's own way:
	// a second creation is refused.
	b.begin = func(ctx context.Context) error { return adapter.Begin(ctx, b.kit, socket) }
	b.end = func(ctx context.Context) error { return adapter.End(ctx, b.kit, socket) }
}

// mounted gives the directories that a mount point shows, from the kernel.
func mounted(t *try, at string) []string {
	mounts, err := proc.Here.Mounts(proc.Self)
	if err != nil {
		t.untried("%v", err)
	}
	for _, m := range mounts {
		if m.Mountpoint == at {
			if dirs := overlayBelow(m.VFSOptions); dirs != nil {
				return dirs
			}
			return []string{m.Root} // one layer: bound, and the file system is the root's
		}
	}
	t.untried("the image's mount can't be found")
	return nil
}
