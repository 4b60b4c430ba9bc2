//go:build linux

package imagestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/image"
)

// A base is a root file system that is made once, on demand, and kept: what
// debootstrap has installed, or what a registry has given. Images are made of
// it by laying the probe on top.
type base struct {
	As    string            `json:"as"`   // the image's name
	Tree  string            `json:"tree"` // its tree digest
	Facts map[string]string `json:"facts"`
	// Packages are the versions of what is installed, where that is known.
	Packages map[string]string `json:"packages,omitempty"`
}

func (s *Store) baseDir(name string) string {
	return filepath.Join(s.dir, fmt.Sprintf("v%d", cacheVersion), "base", baseName(name))
}

// baseName is a name's directory: two references that look alike as file
// names are told apart.
func baseName(name string) string {
	plain := image.FileName(name)
	if plain == name { // a directory's name stays what it is
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain + "-" + hex.EncodeToString(sum[:4])
}

// foundBase is where a base lies: in this store, or in the one that it may take
// from. That one may be changed by nobody but ourselves and root, like our own.
func (s *Store) foundBase(name string) string {
	own := s.baseDir(name)
	if s.opts.From == "" || exists(filepath.Join(own, "base.json")) {
		return own
	}
	other := &Store{dir: s.opts.From}
	home, err := other.marked()
	if home == nil || err != nil {
		return own
	}
	_ = home.Close() // it was only looked at
	if info, err := os.Stat(other.dir); err != nil || info.Mode()&0o022 != 0 {
		return own
	}
	if there := other.baseDir(name); exists(filepath.Join(there, "base.json")) {
		return there
	}
	return own
}

// errNoBase: it was not made yet.
var errNoBase = errors.New("it has not been built here")

// describeBase reads what a base is, without looking at its files.
func (s *Store) describeBase(name string) (base, error) {
	var b base
	text, err := safepath.ReadRegular(filepath.Join(s.foundBase(name), "base.json"), mostOfMark, markExpected)
	if errors.Is(err, os.ErrNotExist) {
		return b, errNoBase
	}
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}

// readBase reads a base that was made, and makes sure that it still is what
// it was.
func (s *Store) readBase(name string) (tree, base, error) {
	b, err := s.describeBase(name)
	if err != nil {
		return nil, b, err
	}
	t, err := readTree(filepath.Join(s.foundBase(name), "rootfs"), nil)
	if err != nil {
		return nil, b, err
	}
	if got := t.digest(); got != b.Tree {
		return nil, b, fmt.Errorf("it is damaged: its tree is %s, not %s", got, b.Tree)
	}
	return t, b, nil
}

// makeBase makes a base unless it is there, whole, and the right one. fill puts the files
// below a directory and says what they are; only one process at a time does.
func (s *Store) makeBase(ctx context.Context, name string, progress io.Writer, right func(base) bool, fill func(ctx context.Context, work string) (tree, base, error)) error {
	unlock, err := s.lockFile(ctx, "lock-"+baseName(name))
	if err != nil {
		return err
	}
	defer unlock()
	if _, b, err := s.readBase(name); err == nil && right(b) {
		return nil
	}
	parent := filepath.Dir(s.baseDir(name))
	if err := mkdirAll(s.dir, parent, innerMode); err != nil {
		return err
	}
	tmp, err := unfinished(parent, baseName(name))
	if err != nil {
		return err
	}
	defer func() { _ = safepath.RemoveAll(tmp) }()
	t, b, err := fill(ctx, filepath.Join(tmp, "work"))
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "%s: keeping %d files, %d bytes\n", name, len(t), t.bytes())
	b.As, b.Tree = name, t.digest()
	if err := t.writeDirectory(filepath.Join(tmp, "rootfs")); err != nil {
		return err
	}
	if err := safepath.RemoveAll(filepath.Join(tmp, "work")); err != nil {
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "base.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := safepath.RemoveAll(s.baseDir(name)); err != nil {
		return err
	}
	return os.Rename(tmp, s.baseDir(name))
}

// anyBase takes whatever is there.
func anyBase(base) bool { return true }

// unfinished makes a directory below dir in which something is made before it is
// moved to its place. What a killed process has left half made is removed: the
// caller holds its lock.
func unfinished(dir, name string) (string, error) {
	prefix := ".new-" + name + "-"
	stale, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, d := range stale {
		err = errors.Join(err, safepath.RemoveAll(d))
	}
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, prefix)
}
