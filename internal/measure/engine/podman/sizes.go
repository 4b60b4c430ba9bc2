package podman

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// storeFiles are the files of a store: podman tells an image's layers by their
// contents only, and not which directories they are.
type storeFiles struct{ root, driver string }

// layerRecord and imageRecord are what we read of the store's own lists.
type (
	layerRecord struct{ ID, Parent string }
	imageRecord struct {
		ID, Layer string
		Mapped    []string `json:"mapped-layers"`
	}
)

func (s storeFiles) read(what string, into any) error {
	text, err := os.ReadFile(filepath.Join(s.root, s.driver+"-"+what, what+".json"))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// directory is where the driver keeps a layer, and files where its files are.
func (s storeFiles) directory(layer string) (directory, files string) {
	switch s.driver {
	case vfs:
		directory = filepath.Join(s.root, "vfs/dir", layer)
		return directory, directory
	case btrfs:
		directory = filepath.Join(s.root, "btrfs/subvolumes", layer)
		return directory, directory
	}
	directory = filepath.Join(s.root, s.driver, layer)
	return directory, filepath.Join(directory, "diff")
}

// sizes adds what is read of the files.
func (s storeFiles) sizes(image string, z *engine.ImageSizes) error {
	var layers []layerRecord
	var images []imageRecord
	if err := s.read("layers", &layers); err != nil {
		return fmt.Errorf("reading podman's list of layers: %w", err)
	}
	if err := s.read("images", &images); err != nil {
		return fmt.Errorf("reading podman's list of images: %w", err)
	}
	chain, others := chains(image, layers, images)
	if len(chain) == 0 {
		return fmt.Errorf("podman's lists have no layers of the image %s", image)
	}
	z.Unpacked, z.Shared, z.Unique = 0, 0, 0
	for n, layer := range chain {
		directory, files := s.directory(layer)
		whole, err := adapter.DiskUsage(directory, filepath.Join(s.root, s.driver+"-layers", layer+".tar-split.gz"))
		if err != nil {
			return err
		}
		content, err := adapter.DiskUsage(files)
		if err != nil {
			return err
		}
		switch {
		case s.driver == overlay:
			z.Unpacked += content.Apparent
		case n == 0: // with the others the last layer has all files
			z.Unpacked = content.Apparent
		}
		if others[layer] {
			z.Shared += whole.Allocated
		} else {
			z.Unique += whole.Allocated
		}
	}
	meta, err := adapter.DiskUsage(filepath.Join(s.root, s.driver+"-images", image))
	if err != nil {
		return err
	}
	z.Unique += meta.Allocated
	z.Disk = z.Shared + z.Unique
	z.How = "st_blocks of the layers' directories and the image's records"
	if s.driver == btrfs {
		z.How += "; blocks that subvolumes share are counted in each"
	}
	return nil
}

// chains gives an image's layers, the last one first, and those that other
// images have.
func chains(image string, layers []layerRecord, images []imageRecord) (chain []string, others map[string]bool) {
	parent := map[string]string{}
	for _, l := range layers {
		parent[l.ID] = l.Parent
	}
	others = map[string]bool{}
	for _, i := range images {
		for _, top := range append([]string{i.Layer}, i.Mapped...) {
			// A list that is broken could go round in circles.
			for n := 0; top != "" && n <= len(layers); n++ {
				if i.ID != image {
					others[top] = true
				} else if _, known := parent[top]; known && top != "" {
					chain = append(chain, top)
				}
				top = parent[top]
			}
		}
	}
	return chain, others
}
