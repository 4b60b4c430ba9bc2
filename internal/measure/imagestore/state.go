//go:build linux

package imagestore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/image"
)

// The states of an image in a store.
const (
	Ready       = "ready"       // it can be had at once
	NotBuilt    = "not built"   // it must be built first
	NotFetched  = "not fetched" // it is fetched when it is used first
	Unavailable = "unavailable" // it can't be had here
)

// State is what is known of an image without building or fetching it.
type State struct {
	State       string
	Reason, Fix string            // why it is not ready, and what would help
	Build       string            // the image to build, where that alone helps
	Facts       map[string]string // of what was built or fetched
	Packages    map[string]string // versions, where they are known
}

// State looks at an image in the store.
func (s *Store) State(name string) (State, error) {
	r, err := recipeFor(name)
	if err != nil {
		return State{}, err
	}
	if data, ok := strings.CutPrefix(name, dataPrefix); ok { // the data can always be made
		_, below, _ := strings.Cut(data, ":")
		return s.State(below)
	}
	var bases []string
	switch {
	case r.ref != "":
		bases = []string{name}
	case r.bases != nil:
		if bases, err = r.bases(s); err != nil {
			return State{State: Unavailable, Reason: err.Error()}, nil
		}
	default:
		if name == "busybox" {
			if _, err := s.opts.LookPath("busybox"); err != nil {
				return State{State: Unavailable, Reason: "there is no busybox on this machine", Fix: busyBoxFix}, nil
			}
		}
		return State{State: Ready}, nil
	}
	out := State{State: Ready}
	for _, b := range bases {
		d, err := s.describeBase(b)
		if err == nil && b == "toolbox" && !thisToolbox(d) {
			err = errOtherRecipe
		}
		switch {
		case err == nil:
			out.Facts, out.Packages = d.Facts, d.Packages
		case r.ref != "":
			return State{State: NotFetched, Reason: "it is fetched when it is used first", Fix: "plimsoll image pull " + name}, nil
		default:
			return s.notBuiltState(name, err), nil
		}
	}
	return out, nil
}

func (s *Store) notBuiltState(name string, err error) State {
	var e *Error
	if errors.As(s.notBuilt(name, err), &e) && e.Fix != "plimsoll image build "+name {
		plain := *e
		plain.Fix = ""
		return State{State: Unavailable, Reason: plain.Error(), Fix: e.Fix}
	}
	return State{State: NotBuilt, Reason: "it has not been built here", Fix: "plimsoll image build " + name, Build: name}
}

// Fetched lists the references that were fetched and have no name in the
// catalogue, sorted.
func (s *Store) Fetched() ([]string, error) {
	dirs, err := os.ReadDir(filepath.Dir(s.baseDir("x")))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, d := range dirs {
		if strings.HasPrefix(d.Name(), ".") {
			continue
		}
		b, err := s.describeBase(d.Name())
		if ref := b.As; err == nil && IsReference(ref) {
			out = append(out, ref)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Remove takes an image out of the store: what it was built or fetched from,
// and every format of it. What bears a run's id is the run's.
func (s *Store) Remove(ctx context.Context, name string) error {
	if _, err := recipeFor(name); err != nil {
		return err
	}
	unlockBase, err := s.lockFile(ctx, "lock-"+baseName(name))
	if err != nil {
		return err
	}
	defer unlockBase()
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.trees, name)
	clear(s.verified)
	dirs := []string{s.baseDir(name)}
	made, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(s.baseDir(name))), image.FileName(name)+"-*"))
	if err != nil {
		return err
	}
	for _, d := range made {
		// debian-KEY, but not debian-something-KEY.
		if key := strings.TrimPrefix(filepath.Base(d), image.FileName(name)+"-"); len(key) == 16 && !strings.Contains(key, "-") {
			dirs = append(dirs, d)
		}
	}
	copies, _ := filepath.Glob(filepath.Join(s.dir, usersDir, "*")) // the pattern is well formed
	for _, d := range dirs {
		err = errors.Join(err, safepath.RemoveAll(d))
		for _, c := range copies {
			err = errors.Join(err, safepath.RemoveAll(filepath.Join(c, strings.TrimPrefix(d, s.dir))))
		}
	}
	if err != nil {
		return &Error{Text: "removing the image " + name, Err: err}
	}
	return nil
}

// Packed is a format in which an image lies in the store.
type Packed struct {
	Format image.Format `json:"format"`
	Path   string       `json:"path"`
	Bytes  int64        `json:"bytes"` // of the file, or of all files below the directory
}

// Peek describes an image and the formats in which the store has it, without
// packing it; Digest is "" where no OCI layout was made yet.
func (s *Store) Peek(ctx context.Context, name string) (image.Image, []Packed, error) {
	t, err := s.tree(ctx, name)
	if err != nil {
		return image.Image{}, nil, err
	}
	out := image.Image{Name: name, Tree: t.digest(), Bytes: t.bytes(), Facts: t.facts}
	var packed []Packed
	for _, f := range []image.Format{image.OCILayout, image.Directory, image.SquashFS, image.SIF} {
		p, err := s.itemPath(name, t, f)
		if err != nil {
			return out, nil, err
		}
		sl, err := readSeal(p)
		if err != nil {
			continue // it was never finished
		}
		if f == image.OCILayout {
			out.Digest = sl.Manifest
		}
		n, err := fileBytes(p)
		if err != nil {
			return out, nil, err
		}
		packed = append(packed, Packed{Format: f, Path: p, Bytes: n})
	}
	return out, packed, nil
}

// fileBytes adds up the regular files at or below a path.
func fileBytes(p string) (n int64, err error) {
	err = filepath.WalkDir(p, func(_ string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
