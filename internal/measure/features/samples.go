package features

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
)

// samples makes the images that engines are tried with, all on top of the
// BusyBox image, and each once for all engines.
type samples struct {
	images image.Provider
	dir    string

	mu   sync.Mutex
	made map[string]*sample
}

// sample is one image.
type sample struct {
	v1.Image
	name string
	dir  string
	mu   sync.Mutex
}

// The sizes of the big layer's files, bytes: one that can't be compressed, one
// that can.
const (
	noiseBytes = 4 << 20
	textBytes  = 8 << 20
	layerBytes = noiseBytes + textBytes
)

// What the images hold.
const (
	noiseFile = "plimsoll-noise"
	textFile  = "plimsoll-text"
	envWord   = "PLIMSOLL_FEATURE=from-the-image"
	workDir   = "/plimsoll-work"
	imageUser = 4321
)

func (s *samples) get(ctx context.Context, name string, make func(base v1.Image) (v1.Image, error)) (*sample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := s.made[name]; got != nil {
		return got, nil
	}
	path, err := s.images.Path(ctx, "busybox", image.OCILayout)
	if err != nil {
		return nil, err
	}
	base, err := imagestore.OnlyImage(path)
	if err != nil {
		return nil, err
	}
	img, err := make(base)
	if err != nil {
		return nil, fmt.Errorf("making the image %s: %w", name, err)
	}
	dir := filepath.Join(s.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s.made[name] = &sample{Image: img, name: name, dir: dir}
	return s.made[name], nil
}

// plainSample is BusyBox as it is, with a mark of the run's, so that no engine
// holds it already.
func (t *try) plainSample() *sample {
	return t.sample("busybox", func(base v1.Image) (v1.Image, error) {
		return withLayer(base, entry{path: "plimsoll-mark", data: []byte(t.b.kit.RunID)})
	})
}

// configured has everything in its configuration that a runtime honours.
func (t *try) configuredSample() *sample {
	return t.sample("configured", func(base v1.Image) (v1.Image, error) {
		img, err := withLayer(base, entry{path: strings.TrimPrefix(workDir, "/") + "/here", data: nil})
		if err != nil {
			return nil, err
		}
		cf, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		cf = cf.DeepCopy()
		cf.Config.Entrypoint = []string{"/bin/sh", "-c", `echo "entrypoint env=$PLIMSOLL_FEATURE user=$(id -u) workdir=$(pwd) cmd=$0"`}
		cf.Config.Cmd = []string{"from-cmd"}
		cf.Config.Env = []string{"PATH=/bin", envWord}
		cf.Config.User = fmt.Sprint(imageUser)
		cf.Config.WorkingDir = workDir
		return mutate.ConfigFile(img, cf)
	})
}

// The three big images: two share the big layer, the third has one in which a
// few bytes are others.
func (t *try) bigSample(which string) *sample {
	return t.sample(which, func(base v1.Image) (v1.Image, error) {
		noise := t.noise()
		if which == "big-new" {
			copy(noise[noiseBytes/2:], "changed")
		}
		text := bytes.Repeat([]byte("the same line again and again\n"), textBytes/30+1)[:textBytes]
		img, err := withLayer(base, entry{path: noiseFile, data: noise}, entry{path: textFile, data: text})
		if err != nil {
			return nil, err
		}
		return withLayer(img, entry{path: "plimsoll-" + which, data: []byte(which)})
	})
}

// noise can't be compressed, and is another one in each run.
func (t *try) noise() []byte {
	var seed [32]byte
	copy(seed[:], t.b.kit.RunID)
	noise := make([]byte, noiseBytes)
	_, _ = rand.NewChaCha8(seed).Read(noise) // never fails
	return noise
}

func (t *try) sample(name string, make func(v1.Image) (v1.Image, error)) *sample {
	s, err := t.b.samples.get(t.ctx, name, make)
	t.need("making the image for it", err)
	return s
}

// entry is a file of a layer, from the image's root.
type entry struct {
	path string
	data []byte
	mode int64 // 0: 0644
}

// withLayer adds a layer of files that belong to root and can be read by all.
func withLayer(base v1.Image, files ...entry) (v1.Image, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{".": true}
	for _, f := range files {
		if dir := filepath.Dir(f.path); !made[dir] { // Docker refuses a layer that has one twice
			made[dir] = true
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o777, ModTime: time.Unix(0, 0)}); err != nil {
				return nil, err
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: f.path, Mode: cmp.Or(f.mode, 0o644), Size: int64(len(f.data)), ModTime: time.Unix(0, 0)}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithCompressedCaching, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	return mutate.Append(base, mutate.Addendum{Layer: l, MediaType: types.OCILayer, History: v1.History{CreatedBy: "plimsoll"}})
}

// dockerArchive is the image as docker save writes it, under a tag.
func (s *sample) dockerArchive(t *try, tag string) string {
	p := filepath.Join(t.dir, s.name+".docker.tar")
	ref, err := name.NewTag(tag)
	if err == nil {
		err = tarball.WriteToFile(p, ref, s.Image)
	}
	t.need("writing a docker archive", err)
	return p
}

// layout is the image as a directory in OCI image layout, with the name latest.
func (s *sample) layout(t *try) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir := filepath.Join(s.dir, "layout")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	p, err := layout.Write(dir, empty.Index)
	if err == nil {
		err = p.AppendImage(s.Image, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "latest"}))
	}
	t.need("writing an OCI layout", err)
	return dir
}

// ociArchive is the layout in a tar, with a name for its one image.
func (s *sample) ociArchive(t *try) string {
	dir := s.layout(t)
	p := filepath.Join(t.dir, s.name+".oci.tar")
	f, err := os.Create(p)
	t.need("writing an OCI archive", err)
	w := tar.NewWriter(f)
	err = errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), f.Close())
	t.need("writing an OCI archive", err)
	return p
}

// rootFS is the image's file system in one tar, its names below prefix.
func (s *sample) rootFS(w *tar.Writer, prefix string) error {
	from := mutate.Extract(s.Image)
	defer from.Close()
	for r := tar.NewReader(from); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		h.Name = filepath.Join(prefix, h.Name)
		if h.Typeflag == tar.TypeLink {
			h.Linkname = filepath.Join(prefix, h.Linkname)
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := io.Copy(w, r); err != nil {
			return err
		}
	}
}

// publish puts the image into the registry under a repository of the run's and
// gives the reference by plain HTTP.
func (t *try) publish(s *sample, repo string) string {
	path := "plimsoll/" + repo + ":" + t.b.kit.RunID
	t.need("putting an image into the registry on loopback", t.b.registry.put(t.ctx, path, s.Image))
	return t.b.enter(engine.KindImage, t.b.registry.addr+"/"+path)
}
