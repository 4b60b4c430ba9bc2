//go:build linux

package imagestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
)

// markFile says that a directory is an image store of ours. It is put into a
// directory that was empty, or that an earlier version filled, and nothing is
// removed from one without it.
const markFile = ".plimsoll-image-store"

const markText = "Plimsoll keeps images here: they are made again where they are missing, and plimsoll clean --images removes them.\n"

// mark makes sure that the directory has the mark, or refuses it.
func (s *Store) mark(home *safepath.Dir) error {
	switch ok, err := marked(home); {
	case err != nil:
		return &Error{Text: "opening the image store " + s.dir, Err: err}
	case ok:
		return nil
	}
	entries, err := home.List()
	if err != nil {
		return &Error{Text: "opening the image store", Err: err}
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == markFile }) {
		return nil // another process was quicker
	}
	if len(entries) > 0 && !s.earlier(entries) {
		return &Error{
			Text: fmt.Sprintf("%s is not an image store of Plimsoll's: it has no %s, and holds %q", s.dir, markFile, entries[0].Name()),
			Fix:  "choose another state directory (PLIMSOLL_STATE), or move away what lies there",
		}
	}
	f, err := home.Create(markFile, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was quicker
	}
	if err == nil {
		_, err = f.WriteString(markText)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &Error{Text: "marking the image store", Err: err}
	}
	return nil
}

// marked says whether a directory has the mark. Its text may still be on its
// way: the name is the mark.
func marked(home *safepath.Dir) (bool, error) {
	f, err := home.OpenFile(markFile, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

var (
	versionDir = regexp.MustCompile(`^v[0-9]{1,3}$`)
	itemDir    = regexp.MustCompile(`^[a-zA-Z0-9._-]+-[0-9a-f]{16}$`)
)

// earlier says whether a directory without a mark is the store of an earlier
// version: it has nothing but what those made, by name and shape, all the way
// down to the items, and the seal of one at least.
func (s *Store) earlier(entries []fs.DirEntry) bool {
	sealed := false
	for _, e := range entries {
		switch {
		case e.Type().IsRegular() && isLock(e.Name()):
		case e.IsDir() && e.Name() == runsDir:
		case e.IsDir() && versionDir.MatchString(e.Name()):
			items, err := os.ReadDir(filepath.Join(s.dir, e.Name()))
			if err != nil {
				return false
			}
			for _, i := range items {
				switch {
				case !i.IsDir():
					return false
				case i.Name() == "base":
				case !itemDir.MatchString(i.Name()):
					return false
				default:
					ours, seal := formats(filepath.Join(s.dir, e.Name(), i.Name()))
					if !ours {
						return false
					}
					sealed = sealed || seal
				}
			}
		default:
			return false
		}
	}
	return sealed
}

// formats says whether a directory holds an image's formats and nothing else,
// and whether one of them is sealed.
func formats(dir string) (ours, sealed bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, false
	}
	for _, e := range entries {
		name := strings.TrimPrefix(e.Name(), ".lock-")
		if strings.HasPrefix(name, ".new-") {
			continue // a kill left it
		}
		plain := strings.TrimSuffix(name, ".seal")
		if !slices.Contains(slices.Collect(maps.Values(baseNames)), plain) {
			return false, false
		}
		if plain != name {
			var sl seal
			text, err := safepath.ReadRegular(filepath.Join(dir, e.Name()), mostOfMark, markExpected)
			sealed = sealed || err == nil && json.Unmarshal(text, &sl) == nil && strings.HasPrefix(sl.Sum, "sha256:")
		}
	}
	return true, sealed
}
