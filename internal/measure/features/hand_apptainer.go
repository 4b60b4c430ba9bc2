package features

import (
	"path/filepath"
	"strings"
)

// apptainer spells the commands of Apptainer, with its cache, keys and
// instances in a directory of the run's own.
func apptainer(b *bench) {
	// It takes the right to enter its directory away from others.
	home := filepath.Join(b.dir, "home")
	b.env = []string{"HOME=" + home, "USER=root"}
	for _, name := range []string{"CONFIGDIR", "CACHEDIR", "TMPDIR"} {
		b.env = append(b.env, "APPTAINER_"+name+"="+home)
	}
	h := hand{program: []string{b.where}}
	h.once = func(_, image string, opts []string, argv ...string) []string {
		return h.argv(append(append(append([]string{"exec"}, opts...), image), argv...))
	}
	h.keep = func(name, image string, opts []string, _ ...string) []string {
		return h.argv(append(append([]string{"instance", "start"}, opts...), image, name))
	}
	h.inside = func(name string, argv ...string) []string {
		return h.argv(append([]string{"exec", "instance://" + name}, argv...))
	}
	h.remove = func(name string) [][]string {
		return [][]string{h.cmd("instance", "stop", "--signal", "9", name)}
	}
	h.provide = func(t *try, s *sample) string {
		sif := filepath.Join(b.dir, s.name+".sif")
		t.must(h.cmd("build", "--force", sif, "docker-archive:"+s.dockerArchive(t, b.tag(s.name)))...)
		return sif
	}
	h.pull = func(ref string) []string {
		return h.cmd("pull", "--force", "--no-https", b.pulledSIF(ref), "docker://"+ref)
	}
	h.push = func(image, ref string) []string { return h.cmd("push", "--no-https", image, "oras://"+ref) }
	h.drop = func(string) [][]string { return nil } // it is a file, and goes with the directory
	h.layers = func(_ *try, ref string) []string { return []string{b.pulledSIF(ref)} }
	h.unpacked = func(*try) []string { return []string{filepath.Join(home, "build-temp-*", "*")} }
	b.hand = h
}

// pulledSIF is where a reference is pulled to.
func (b *bench) pulledSIF(ref string) string {
	return filepath.Join(b.dir, strings.NewReplacer("/", "_", ":", "_").Replace(ref)+".sif")
}
