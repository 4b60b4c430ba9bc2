// Package archive reads from a docker archive what identifies its image, so
// that an adapter can verify that an engine's store holds the image which it
// was given, and not another one under the same name.
package archive

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Image is what identifies the one image of a docker archive.
type Image struct {
	Config string   // name of the configuration's file
	Layers []string // digests of the layers, unpacked ("sha256:…"), lowest first
}

// maxMember bounds what is read of one file of the archive, bytes.
const maxMember = 1 << 20

// Read reads the docker archive at path, which must hold one image.
func Read(path string) (Image, error) {
	img, err := read(path)
	if err != nil {
		return img, fmt.Errorf("reading the docker archive %s: %w", path, err)
	}
	return img, nil
}

func read(path string) (Image, error) {
	var img Image
	var list []struct{ Config string }
	if err := member(path, "manifest.json", &list); err != nil {
		return img, err
	}
	if len(list) != 1 {
		return img, fmt.Errorf("manifest.json names %d images, expected one", len(list))
	}
	img.Config = list[0].Config
	var config struct {
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	if err := member(path, img.Config, &config); err != nil {
		return img, err
	}
	img.Layers = config.RootFS.DiffIDs
	if len(img.Layers) == 0 {
		return img, fmt.Errorf("%s names no layers", img.Config)
	}
	return img, nil
}

// member decodes one JSON file of the archive.
func member(path, name string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	tr := tar.NewReader(f)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return fmt.Errorf("there is no %q in it", name)
		}
		if err != nil {
			return err
		}
		if h.Name != name {
			continue
		}
		if err := json.NewDecoder(io.LimitReader(tr, maxMember)).Decode(into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}
