package features

import (
	"archive/tar"
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// charlie spells the commands of Charliecloud, in a storage directory of the
// run's own.
func charlie(b *bench) {
	store := filepath.Join(b.dir, "storage")
	b.env = []string{"HOME=" + filepath.Join(b.dir, "home"), "USER=root", "CH_IMAGE_STORAGE=" + store,
		// Its build cache is a repository, and a user of git has these.
		"GIT_AUTHOR_NAME=plimsoll", "GIT_AUTHOR_EMAIL=plimsoll@localhost", "GIT_COMMITTER_NAME=plimsoll", "GIT_COMMITTER_EMAIL=plimsoll@localhost"}
	if !b.kit.Root && b.kit.User != nil {
		b.env[1] = "USER=" + b.kit.User.Name
	}
	h := hand{program: []string{"ch-run"}}
	h.once = func(_, image string, opts []string, argv ...string) []string {
		args := append(append([]string{"--storage", store}, opts...), image, "--")
		return h.argv(append(args, argv...))
	}
	h.provide = func(t *try, s *sample) string {
		t.must("ch-image", "import", s.rootTar(t, ""), s.name)
		return s.name
	}
	h.pull = func(ref string) []string {
		return []string{"ch-image", "pull", "--tls-no-verify", b.overTLS(ref)}
	}
	h.push = func(image, ref string) []string {
		return []string{"ch-image", "push", "--tls-no-verify", image, b.overTLS(ref)}
	}
	h.drop = func(image string) [][]string {
		return [][]string{{"ch-image", "delete", b.overTLS(image)}}
	}
	h.layers = func(_ *try, ref string) []string { return []string{b.charlieDir(ref), store} }
	h.unpacked = func(*try) []string { return []string{filepath.Join(store, "img", "*")} }
	b.hand = h
}

// charlieDir is where ch-image unpacks a reference.
func (b *bench) charlieDir(ref string) string {
	return filepath.Join(b.dir, "storage", "img", strings.NewReplacer("/", "%", ":", "+").Replace(b.overTLS(ref)))
}

// overTLS is a reference at the registry's other port: ch-image asks by https
// only.
func (b *bench) overTLS(ref string) string {
	return strings.Replace(ref, b.registry.addr, b.registry.tlsAddr, 1)
}

// rootTar is the image's file system in a tar.
func (s *sample) rootTar(t *try, prefix string, more ...entry) string {
	p := filepath.Join(t.dir, s.name+".root.tar")
	f, err := os.Create(p)
	t.need("writing a tar", err)
	w := tar.NewWriter(f)
	for _, m := range more {
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: m.path, Mode: 0o644, Size: int64(len(m.data))})
		}
		if err == nil {
			_, err = w.Write(m.data)
		}
	}
	if err == nil {
		err = s.rootFS(w, prefix)
	}
	t.need("writing a tar", errors.Join(err, w.Close(), f.Close()))
	return p
}
