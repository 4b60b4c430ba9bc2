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

// runsDir holds what bears a run's id.
const runsDir = "runs"

// Forget removes what a run left in the store: of the run with this id, or of
// every run where the id is empty. Close does so for the store's own run; this
// is for runs that were killed.
func (s *Store) Forget(runID string) error {
	if runID != "" && !plainID.MatchString(runID) {
		return &Error{Text: fmt.Sprintf("removing the images of run %q: that is not a run's id", runID)}
	}
	_, err := s.forget(func(id string) bool { return runID == "" || id == runID })
	return err
}

// ForgetOver removes what runs left that are over: live says which are not. It
// gives their ids.
func (s *Store) ForgetOver(live func(runID string) bool) ([]string, error) {
	return s.forget(func(id string) bool { return !live(id) })
}

func (s *Store) forget(gone func(runID string) bool) (ids []string, err error) {
	home, err := s.marked()
	if home == nil || err != nil {
		return nil, err
	}
	defer home.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	var errs []error
	for _, at := range s.perUser(home) {
		dir, err := safepath.Open(filepath.Join(s.dir, at, runsDir), s.rule())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		entries, err := dir.List()
		errs = append(errs, err)
		left := len(entries)
		for _, e := range entries {
			if !e.IsDir() || !plainID.MatchString(e.Name()) || !gone(e.Name()) {
				continue
			}
			if err := dir.RemoveAll(e.Name()); err != nil {
				errs = append(errs, err)
				continue
			}
			left--
			s.unverify(filepath.Join(dir.Path(), e.Name()))
			if !seen[e.Name()] {
				seen[e.Name()], ids = true, append(ids, e.Name())
			}
		}
		errs = append(errs, dir.Close())
		if left == 0 {
			_ = os.Remove(filepath.Join(s.dir, at, runsDir)) // another run may have come
		}
	}
	if err := errors.Join(errs...); err != nil {
		return ids, &Error{Text: "removing the images of a run", Err: err}
	}
	return ids, nil
}

// unverify forgets that what lies below a directory was looked at.
func (s *Store) unverify(dir string) {
	for p := range s.verified {
		if p == dir || within(dir, p) {
			delete(s.verified, p)
		}
	}
}

// perUser lists the places in the store that have the same folders: the store
// itself and the directory of each user.
func (s *Store) perUser(home *safepath.Dir) []string {
	out := []string{"."}
	users, err := home.Sub(usersDir)
	if err != nil {
		return out
	}
	defer users.Close()
	entries, _ := users.List() // what can't be listed holds nothing that we could remove
	for _, e := range entries {
		if e.IsDir() && strings.Trim(e.Name(), "0123456789") == "" {
			out = append(out, filepath.Join(usersDir, e.Name()))
		}
	}
	return out
}

// rule is of whom a store's directory may be.
func (s *Store) rule() safepath.Rule {
	r := safepath.Caller(os.Getenv)
	r.Lasting = true
	return r
}

// marked opens the store where there is one, and gives nil where there is none
// or where it has no mark of ours.
func (s *Store) marked() (*safepath.Dir, error) {
	home, err := safepath.Open(s.dir, s.rule())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Text: "opening the image store", Err: err}
	}
	ok, err := marked(home)
	if err == nil && ok {
		return home, nil
	}
	if err = errors.Join(err, home.Close()); err != nil {
		return nil, &Error{Text: "opening the image store", Err: err}
	}
	return nil, nil
}

// errNoStore says that a directory that was to be removed is not one of Plimsoll's stores.
var errNoStore = errors.New("it has no mark of Plimsoll's")

// RemoveStore removes an image store with all its images. It takes only what a
// store has, and only from a directory with the store's mark: anything else
// that lies there stays, and is an error. removed is false where there is none.
func RemoveStore(dir string) (removed bool, err error) {
	s := NewStore(dir, nil, Options{})
	home, err := s.marked()
	if err != nil {
		return false, err
	}
	if home == nil {
		return false, notOurs(dir)
	}
	defer home.Close()
	entries, err := home.List()
	errs := []error{err}
	for _, e := range entries {
		n := e.Name()
		if e.IsDir() && (n == runsDir || n == usersDir || versionDir.MatchString(n)) || e.Type().IsRegular() && isLock(n) {
			errs = append(errs, home.RemoveAll(n))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return false, &Error{Text: "removing the image store " + dir, Err: err}
	}
	if left, err := home.List(); err != nil || len(left) > 1 {
		for _, e := range left {
			if e.Name() != markFile {
				return false, &Error{Text: fmt.Sprintf("removing the image store %s: the images are gone, but it holds %q, which Plimsoll did not create", dir, e.Name()), Err: err, Fix: "move it away"}
			}
		}
	}
	if err := errors.Join(home.Remove(markFile), os.Remove(dir)); err != nil {
		return false, &Error{Text: "removing the image store " + dir, Err: err}
	}
	return true, nil
}

// notOurs is nil where there is nothing at all, or an empty directory.
func notOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return &Error{Text: "looking for the image store", Err: err}
	}
	return &Error{Text: "not removing " + dir, Err: errNoStore,
		Fix: "see what lies there and remove it by hand; where an earlier version of Plimsoll made it, the next run puts the mark there"}
}
