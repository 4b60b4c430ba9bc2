package imagestore

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"runtime"

	"plimsoll/internal/measure/image"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Payload makes the image payload in memory, on any system, for a daemon that it is
// sent to: the content is that of the store's, the labels are the caller's.
func Payload(probe []byte, labels map[string]string) (v1.Image, error) {
	t := skeleton()
	t.add(entry{path: image.ProbePath, kind: kindFile, mode: 0o755, data: probe})
	base, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Config: v1.Config{
		Env: []string{insidePath}, Cmd: []string{image.ProbePath}, WorkingDir: "/",
	}})
	if err != nil {
		return nil, fmt.Errorf("assembling the image payload: %w", err)
	}
	return topped(base, t, labels)
}

// WithProbe puts the probe on top of an image, as the store does with whatever it
// gets from a registry. An archive of the store's has it already, and gets the labels
// alone.
func WithProbe(base v1.Image, probe []byte, labels map[string]string) (v1.Image, error) {
	t := tree{{path: image.ProbePath, kind: kindFile, mode: 0o755, data: probe}}
	t.add(entry{path: image.WorkDir, kind: kindDir, mode: 0o1777})
	return topped(base, t, labels)
}

// topped is an image with one more layer and with labels.
func topped(base v1.Image, t tree, labels map[string]string) (v1.Image, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := t.writeEntries(w)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		return nil, fmt.Errorf("making the probe's layer: %w", err)
	}
	img, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, fmt.Errorf("putting the probe on top: %w", err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("reading the image's configuration: %w", err)
	}
	config := file.Config.DeepCopy()
	if config.Labels == nil {
		config.Labels = map[string]string{}
	}
	maps.Copy(config.Labels, labels)
	img, err = mutate.Config(img, *config)
	if err != nil {
		return nil, fmt.Errorf("labelling the image: %w", err)
	}
	return img, nil
}
