package run

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
)

// claiming begins the name of a folder that is being claimed, and claimOf gives it whole.
// Before the proof is in it only its name says who makes it: a state directory may be
// shared, and the machine's lock holds nobody off on another one.
const claiming = ".claim-"

func claimOf(id string, at origin) string { return claiming + id + "." + tagOf(at) }

// tagOf tells apart, in the name of a file, those who can't see each other's processes:
// hosts of one name too, whose boots differ, and the containers of one host.
func tagOf(at origin) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\n%s\n%s", at.Boot, at.PIDs, at.Host)
	return strconv.FormatUint(h.Sum64(), 36)
}

// claimLimit is when nobody makes a claim any more, wherever that was: it takes
// milliseconds, and no two clocks are so far apart. A host that was booted since, or has
// another name now, knows its own claims by nothing else.
const claimLimit = 24 * time.Hour

// unclaim removes what a kill has left of a claim: a folder with nothing in it
// but the proof, whole or torn.
func unclaim(runs *safepath.Dir, name string) error {
	dir, err := runs.Sub(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n := e.Name(); n != ownerFile && !safepath.IsTemp(n, ownerFile) {
			return fmt.Errorf("%s is in %s, and is nothing of a run's", n, dir.Path())
		}
	}
	for _, e := range entries {
		if err := dir.Remove(e.Name()); err != nil {
			return err
		}
	}
	return runs.Remove(name)
}

// tidy removes what kills have left of claims, where the machine's lock is held, so that
// nobody is claiming here. It gives the paths of those that may be being made elsewhere.
func (s State) tidy() (elsewhere []string, err error) {
	runs, err := s.runs(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tidying the runs' folders: %w", err)
	}
	defer runs.Close()
	entries, err := runs.List()
	if err != nil {
		return nil, fmt.Errorf("tidying the runs' folders: %w", err)
	}
	now := here()
	for _, e := range entries {
		switch claimed(runs, e.Name(), now) {
		case gone:
			_ = unclaim(runs, e.Name()) // what is somebody's stays
		case unseen:
			elsewhere = append(elsewhere, filepath.Join(runs.Path(), e.Name()))
		}
	}
	return elsewhere, nil
}

// claimed says of a name whether it is of a claim that nobody will finish. What is none
// counts as one that somebody is making: it is not ours to remove.
func claimed(runs *safepath.Dir, name string, now origin) fate {
	rest, is := strings.CutPrefix(name, claiming)
	id, tag, _ := strings.Cut(rest, ".") // earlier versions' names end with the id
	if !is || !record.IsRunID(id) {
		return alive
	}
	dir, err := runs.Sub(name)
	if err != nil {
		return alive
	}
	defer dir.Close()
	if dir.Owner() != os.Geteuid() {
		return alive
	}
	f := unseen
	switch o, err := ownerOf(dir, id); {
	case err == nil:
		f = o.fate(now)
	case tag == tagOf(now):
		f = gone
	}
	if info, err := os.Lstat(dir.Path()); f == unseen && err == nil && time.Since(info.ModTime()) > claimLimit {
		f = gone
	}
	return f
}
