package features

import (
	"path/filepath"
	"strings"

	adapter "plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/measure/host/proc"
)

// podman spells the commands of Podman, on a store of the run's own.
func podman(b *bench) {
	root := filepath.Join(b.dir, "root")
	b.env = []string{"HOME=/root", "USER=root"}
	if !b.kit.Root && b.kit.User != nil {
		b.env = []string{"HOME=" + b.kit.User.Home, "USER=" + b.kit.User.Name, "XDG_RUNTIME_DIR=" + b.kit.User.RuntimeDir}
	}
	h := hand{program: podmanOn(root, filepath.Join(b.dir, "run"))}
	if b.kit.Root {
		h.limits, _ = adapter.OwnUlimits() // without, podman says itself what it may not
	}
	dockerLike(b, &h, append([]string{"--network", "none"}, h.limits...)...)
	h.provide = func(t *try, s *sample) string {
		tag := b.tag(s.name)
		t.clean(h.cmd("rmi", "--force", tag))
		t.must(h.cmd("load", "--quiet", "--input", s.dockerArchive(t, tag))...)
		return tag
	}
	h.remove = func(name string) [][]string {
		return [][]string{h.cmd("rm", "--force", "--time", "0", "--volumes", name)}
	}
	h.pull = func(ref string) []string { return h.cmd("pull", "--quiet", "--tls-verify=false", ref) }
	h.push = func(image, ref string) []string { return h.cmd("push", "--quiet", "--tls-verify=false", image, ref) }
	h.layers = func(t *try, ref string) []string {
		return overlayDirs(t, t.must(h.cmd("image", "inspect", "--format", "{{json .GraphDriver}}", ref)...))
	}
	h.unpacked = func(*try) []string { return []string{filepath.Join(root, "overlay", "*", "diff")} }
	b.hand = h
}

// podmanOn is podman on a store of its own. Where no systemd runs it is told
// so, which it would find out with a warning.
func podmanOn(root, run string) []string {
	argv := []string{"podman", "--root", root, "--runroot", run, "--storage-driver", "overlay"}
	if !proc.SystemdRuns() {
		argv = append(argv, "--cgroup-manager", "cgroupfs")
	}
	return argv
}

// overlayBelow gives the lower directories of an overlay's mount options.
func overlayBelow(options string) []string {
	for _, o := range strings.Split(options, ",") {
		if dirs, ok := strings.CutPrefix(o, "lowerdir="); ok {
			return strings.Split(dirs, ":")
		}
	}
	return nil
}
