package canary

import (
	"context"
	"os"
	"path/filepath"

	"plimsoll/internal/measure/engine"
)

// containerd plants a namespace that is called as ours once was, with an image
// and a container, and more of such names.
func containerd(ctx context.Context, f *Flock) error {
	socket := firstOf("/run/containerd/containerd.sock", "/run/plimsoll-lab/containerd/containerd.sock")
	if socket == "" || os.Geteuid() != 0 {
		return cannot("there is no containerd, or we are not root")
	}
	path, tag, err := f.archive(ctx)
	if err != nil {
		return err
	}
	ctr := program("ctr").with("--address", socket)
	if err := ctr.with("version").run(ctx); err != nil {
		return cannot("%v", err)
	}
	for _, ns := range []string{engine.Namespace, "plimsoll-" + f.id, "plimsoll-nerdctl-" + f.id} {
		if err := f.namespace(ctx, ctr, ns, path, tag); err != nil {
			return err
		}
	}
	return nil
}

// firstOf is the first path that is there.
func firstOf(paths ...string) string {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return ""
}

func (f *Flock) namespace(ctx context.Context, ctr tool, ns, archive, tag string) error {
	// The containers' groups lie in one of the namespace's name.
	tops, err := groupTops()
	if err != nil {
		return err
	}
	for _, top := range tops {
		group := filepath.Join(top, ns)
		if err := f.after(step{What: "control group " + group, How: removeEmpty, Path: group}); err != nil {
			return err
		}
	}
	p := ctr.with("--namespace", ns)
	e := tended{f, "containerd " + ns, p, ctr.with("version")}
	ours := "canary=" + ns + "/" + f.id // names of namespaces begin alike
	name, lease := "plimsoll-"+f.id+"-1", "plimsoll-"+f.id+"-lease"
	for _, c := range []struct {
		what string
		look tool
		undo []tool
		make []string
	}{
		{"namespace", ctr.with("namespaces", "ls").saying(ours), []tool{ctr.with("namespaces", "rm", ns)},
			[]string{"namespaces", "create", ns, ours, engine.Label + "=" + f.id}},
		{"image " + tag, p.with("images", "ls", "--quiet").saying(tag), []tool{p.with("images", "rm", "--sync", tag)},
			[]string{"images", "import", archive}},
		{"container " + name, p.with("containers", "info", name).saying(f.id), []tool{p.with("tasks", "rm", "--force", name), p.with("containers", "rm", name)},
			append([]string{"run", "--detach", "--label", engine.Label + "=" + f.id, "--label", "plimsoll=" + f.id, tag, name}, stay()...)},
		{"lease " + lease, p.with("leases", "ls", "-q").saying(lease), []tool{p.with("leases", "rm", lease)},
			[]string{"leases", "create", "--id", lease}},
	} {
		if err := e.plant(ctx, c.what, c.look, c.undo, c.make...); err != nil {
			return err
		}
	}
	f.add(e.name+" container "+name+", running", p.with("tasks", "ls").saying("RUNNING").run)
	return nil
}
