//go:build linux

package image

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// path of programs inside; engines that take no image (native, a bare
// runtime) are given the same by their adapters.
const insidePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// writeTar writes the tree as one layer.
func (t tree) writeTar(w io.Writer) error {
	tw := tar.NewWriter(w)
	if err := t.writeEntries(tw); err != nil {
		return err
	}
	return tw.Close()
}

func (t tree) writeEntries(tw *tar.Writer) error {
	for _, e := range t {
		if e.path == "/" {
			continue // a layer's root is the engine's own
		}
		h := &tar.Header{
			Name: strings.TrimPrefix(e.path, "/"), Mode: int64(e.mode), ModTime: epoch, Format: tar.FormatPAX,
		}
		switch e.kind {
		case kindDir:
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		case kindLink:
			h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
		default:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(e.data))
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("writing %s to the layer: %w", e.path, err)
		}
		if _, err := tw.Write(e.data); err != nil {
			return fmt.Errorf("writing %s to the layer: %w", e.path, err)
		}
	}
	return nil
}

// ociImage makes the OCI image of a tree: one gzipped layer, as a registry's
// images have.
func ociImage(imageName string, t tree) (v1.Image, error) {
	var buf bytes.Buffer
	if err := t.writeTar(&buf); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(buf.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("packing the layer: %w", err)
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{
		Layer:     layer,
		MediaType: types.OCILayer,
		History:   v1.History{Created: v1.Time{Time: epoch}, CreatedBy: "plimsoll image " + imageName},
	})
	if err != nil {
		return nil, fmt.Errorf("adding the layer: %w", err)
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	cf = cf.DeepCopy()
	cf.OS, cf.Architecture = "linux", runtime.GOARCH
	cf.Created = v1.Time{Time: epoch}
	cf.Config = v1.Config{
		Env: []string{insidePath}, Cmd: []string{ProbePath}, WorkingDir: "/",
		Labels: map[string]string{"org.opencontainers.image.title": "plimsoll " + imageName},
	}
	if img, err = mutate.ConfigFile(img, cf); err != nil {
		return nil, fmt.Errorf("setting the configuration: %w", err)
	}
	return img, nil
}

// writeLayout writes the OCI image layout into dir, which must not exist.
func writeLayout(dir string, img v1.Image) error {
	p, err := layout.Write(dir, empty.Index)
	if err != nil {
		return fmt.Errorf("starting the OCI layout: %w", err)
	}
	if err := p.AppendImage(img); err != nil {
		return fmt.Errorf("writing the OCI layout: %w", err)
	}
	return makeReadable(dir)
}

// writeDockerArchive writes what docker save would, under one tag.
func writeDockerArchive(file string, img v1.Image, tag string) error {
	ref, err := name.NewTag(tag, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("reading the tag %q: %w", tag, err)
	}
	if err := tarball.WriteToFile(file, ref, img); err != nil {
		return fmt.Errorf("writing the docker archive: %w", err)
	}
	return os.Chmod(file, 0o644)
}
