//go:build linux

package imagestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/image"
)

// usersDir holds a directory for each ordinary user whose engines read images
// from root's store: USER/ is root's and of the user's group, mode 0750.
const usersDir = "users"

// PathFor gives the user's copy of an unpacked image no set-user-ID and
// set-group-ID bits: on the host these would make the user root, and in the user's
// own namespaces they have no effect. A file is a hard link to the store's own,
// which holds no program of the host.
func (s *Store) PathFor(ctx context.Context, name string, f image.Format, uid, gid int) (string, error) {
	from, err := s.Path(ctx, name, f)
	if err != nil || uid == os.Geteuid() || os.Geteuid() != 0 {
		return from, err
	}
	t, err := s.tree(ctx, name)
	if err != nil {
		return "", err
	}
	unlock, err := s.lockItem(ctx, from)
	if err != nil {
		return "", err
	}
	defer unlock()
	to, err := s.copyFor(t, f, from, uid, gid)
	if err != nil {
		return "", &Error{Text: fmt.Sprintf("giving the image %s as %s to user %d", name, f, uid), Err: err}
	}
	return to, nil
}

func (s *Store) copyFor(t *content, f image.Format, from string, uid, gid int) (string, error) {
	home := filepath.Join(s.dir, usersDir, strconv.Itoa(uid))
	if err := userHome(home, gid); err != nil {
		return "", err
	}
	rel, err := filepath.Rel(s.dir, from)
	if err != nil {
		return "", err
	}
	to := filepath.Join(home, rel)
	if err := mkdirAll(home, filepath.Dir(to), 0o755); err != nil {
		return "", err
	}
	switch f {
	case image.Directory:
	case image.OCILayout:
		return "", errors.New("no engine of an ordinary user takes an OCI layout")
	default:
		return to, linkFor(from, to)
	}
	want := t.tree.unprivileged()
	if sl, ok := s.known(to); ok && sl.Sum == want.digest() {
		return to, nil
	}
	if sum, err := itemSum(to, f); err != nil || sum != want.digest() {
		if err := remake(to, want); err != nil {
			return "", err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified[to] = seal{Sum: want.digest()}
	return to, nil
}

// userHome makes the directory that one user alone may enter.
func userHome(home string, gid int) error {
	users := filepath.Dir(home)
	for _, dir := range []string{users, home} {
		if err := os.Mkdir(dir, innerMode); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return errors.Join(os.Chmod(users, gateMode), os.Chown(home, os.Geteuid(), gid), os.Chmod(home, 0o750))
}

// linkFor gives a file its second name, anew where the store has made the file
// anew meanwhile.
func linkFor(from, to string) error {
	a, err := os.Stat(from)
	if err != nil {
		return err
	}
	if b, err := os.Lstat(to); err == nil && os.SameFile(a, b) {
		return nil
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Link(from, to)
}

// remake unpacks a tree beside its place and moves it there.
func remake(to string, t tree) (err error) {
	tmp, err := unfinished(filepath.Dir(to), filepath.Base(to))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(tmp)) }()
	made := filepath.Join(tmp, filepath.Base(to))
	if err := t.writeDirectory(made); err != nil {
		return err
	}
	if err := safepath.RemoveAll(to); err != nil {
		return err
	}
	return os.Rename(made, to)
}

// unprivileged is the tree without set-user-ID and set-group-ID bits.
func (t tree) unprivileged() tree {
	out := make(tree, len(t))
	for i, e := range t {
		e.mode &^= unix.S_ISUID | unix.S_ISGID
		if e.kind == kindLink {
			e.mode = 0o777
		}
		out[i] = e
	}
	return out
}
