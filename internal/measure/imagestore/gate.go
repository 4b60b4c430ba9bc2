//go:build linux

package imagestore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/safepath"
)

// A store holds images with their set-user-ID bits: unpacked, these are
// programs of root's that whoever reaches them may start. So nobody but its
// owner can enter it, but for root's store, through which an ordinary user
// comes to a directory of copies of their own: see PathFor.
const (
	gateMode  = 0o711 // of root's store: to be passed, not listed
	innerMode = 0o700 // of all in it, and of an ordinary user's store
)

func gate() fs.FileMode {
	if os.Geteuid() == 0 {
		return gateMode
	}
	return innerMode
}

// open makes the store's directory, or refuses one that is not ours or that
// somebody else could change: what lies in it is run, perhaps as root.
func (s *Store) open() error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.opened && exists(filepath.Join(s.dir, markFile)) {
		return nil
	}
	home, err := safepath.Make(s.dir, 0o755, s.rule())
	if err != nil {
		e := &Error{Text: "making the image store", Err: err}
		if errors.Is(err, fs.ErrPermission) {
			e.Fix = "set PLIMSOLL_STATE to a directory of yours"
		}
		return e
	}
	defer home.Close()
	info, err := os.Stat(s.dir)
	if err != nil {
		return &Error{Text: "opening the image store", Err: err}
	}
	if home.Owner() != os.Geteuid() {
		return &Error{Text: fmt.Sprintf("the image store %s belongs to another user", s.dir), Fix: "choose another state directory"}
	}
	if info.Mode()&0o022 != 0 {
		return &Error{
			Text: fmt.Sprintf("the image store %s can be written to by others (mode %04o)", s.dir, info.Mode().Perm()),
			Fix:  "chmod go-w " + s.dir,
		}
	}
	if err := s.mark(home); err != nil {
		return err
	}
	// Closed before what it holds is made or mended, whatever the umask.
	if err := errors.Join(home.Chmod(gate()), closeInside(home)); err != nil {
		return &Error{Text: "closing the image store to other users", Err: err}
	}
	s.opened = true
	return nil
}

// closeInside closes what the store holds but for the users' own directories.
// Earlier versions left it open to all.
func closeInside(home *safepath.Dir) error {
	entries, err := home.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.IsDir() && e.Name() != usersDir:
			sub, err := home.Sub(e.Name())
			if errors.Is(err, fs.ErrNotExist) {
				continue // a run that ends takes its own away
			}
			if err == nil {
				err = errors.Join(sub.Chmod(innerMode), sub.Close())
			}
			if err != nil {
				return err
			}
		case isLock(e.Name()):
			// Who can open a lock can hold it for ever.
			if f, err := home.OpenFile(e.Name(), os.O_RDWR, 0); err == nil {
				err = errors.Join(f.Chmod(0o600), f.Close())
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func isLock(name string) bool { return name == "lock" || strings.HasPrefix(name, "lock-") }

// mkdirAll makes dir below base, whatever the umask: with mode first where it
// is the first below base, and below that readable by whoever may come so far.
func mkdirAll(base, dir string, first fs.FileMode) error {
	rel, err := filepath.Rel(base, dir)
	if err != nil {
		return err
	}
	p, mode := base, first
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		p = filepath.Join(p, part)
		if err := os.Mkdir(p, innerMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Chmod(p, mode); err != nil {
			return err
		}
		mode = 0o755
	}
	return nil
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }
