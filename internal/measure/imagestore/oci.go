//go:build linux

package imagestore

import (
	"fmt"
	"os"
	"runtime"

	"plimsoll/internal/measure/image"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// ociImage makes the OCI image of a content: gzipped layers, as a registry's
// images have. The layers' files are made below dir and are needed until the
// image is written.
func ociImage(imageName string, c *content, dir string) (v1.Image, error) {
	var layers []v1.Layer
	for _, t := range c.layers {
		l, err := recompress(dir, t, nil)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return assemble(&v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Config: v1.Config{
		Env: []string{insidePath}, Cmd: []string{image.ProbePath}, WorkingDir: "/", Labels: c.labels(imageName),
	}}, layers)
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
