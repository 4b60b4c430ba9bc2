package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/probe"
)

// elsewhereDir is the image store in a directory that the user names.
const elsewhereDir = "plimsoll-images"

// elsewhereFile lists the stores outside of the state directory, so that a
// clean-up finds them.
const elsewhereFile = "image-stores.json"

// stores are those of the levels of image-on. What was built or fetched for the
// state directory's is not built again.
func stores(o Options, options imagestore.Options) (map[string]image.Provider, error) {
	if len(o.ImageOn) == 0 {
		return nil, nil
	}
	options.From = o.State.Images()
	out := map[string]image.Provider{}
	var dirs []string
	for level, dir := range o.ImageOn {
		dir = filepath.Join(dir, elsewhereDir)
		dirs = append(dirs, dir)
		out[level] = imagestore.NewStore(dir, probe.Binary(), options)
	}
	return out, o.State.noteStores(dirs)
}

// elsewhere are the stores outside of the state directory.
func (s State) elsewhere() (dirs []string, err error) {
	home, err := s.home()
	if err != nil {
		return nil, err
	}
	defer home.Close()
	b, err := home.ReadFile(elsewhereFile, 1<<20, "a list of directories")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &dirs)
	}
	if err != nil {
		return nil, fmt.Errorf("reading which image stores there are: %w", err)
	}
	return dirs, nil
}

// noteStores adds to the list, before anything is made in them.
func (s State) noteStores(dirs []string) error {
	known, err := s.elsewhere()
	if err != nil {
		return err
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(known), dirs...))))
	if slices.Equal(all, known) {
		return nil
	}
	return s.writeStores(all)
}

func (s State) writeStores(dirs []string) error {
	home, err := s.home()
	if err != nil {
		return err
	}
	defer home.Close()
	if len(dirs) == 0 {
		return home.Remove(elsewhereFile)
	}
	b, err := json.Marshal(dirs)
	if err != nil {
		return err
	}
	return home.WriteFile(elsewhereFile, append(b, '\n'), 0o644)
}

// removeStores removes the stores outside of the state directory. One whose file
// system is not mounted now stays in the list.
func (c *Cleaned) removeStores(s State) error {
	dirs, err := s.elsewhere()
	if err != nil || len(dirs) == 0 {
		return err
	}
	var errs []error
	left := map[string]bool{}
	for _, dir := range dirs {
		removed, err := imagestore.RemoveStore(dir)
		if removed {
			c.Removed = append(c.Removed, "images in "+dir)
			continue
		}
		left[dir] = true
		errs = append(errs, err)
	}
	errs = append(errs, s.writeStores(slices.Sorted(maps.Keys(left))))
	return errors.Join(errs...)
}
