package safepath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks is how many links the kernel follows on one way: see
// path_resolution(7).
const mostLinks = 40

// closed is the mode of a new directory below one that others may write to.
const closed = 0o700

// walk goes to a directory, one component after the other.
type walk struct {
	rule Rule
	path string // where to, as it was asked for
	make bool
	perm fs.FileMode
	// anybody: whose the directories and links are does not matter.
	anybody bool

	fd    int
	at    string // where fd is
	stat  unix.Stat_t
	links int
}

// open opens path for Open and, with mk, makes what is missing of it for Make.
func open(path string, rule Rule, mk bool, perm fs.FileMode) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return openPlain(abs, rule, mk, perm)
	}
	w := &walk{rule: rule, path: abs, make: mk, perm: perm, fd: -1}
	defer func() { _ = unix.Close(w.fd) }()
	if _, err := w.along(abs); err != nil {
		return nil, err
	}
	// What was held for looking only is opened for use.
	return reopen(w.fd, w.at, rule)
}

// along goes the whole way. What is left of it is what the error is about, and what
// follows.
func (w *walk) along(abs string) (left []string, err error) {
	if err := w.enter(unix.AT_FDCWD, "/", "/"); err != nil {
		return nil, err
	}
	for todo := components(abs); len(todo) > 0; {
		link, err := w.step(todo[0])
		if err != nil {
			return todo, err
		}
		todo = todo[1:]
		if link == "" {
			continue
		}
		if w.links++; w.links > mostLinks {
			return nil, &fs.PathError{Op: "open", Path: abs, Err: unix.ELOOP}
		}
		if filepath.IsAbs(link) {
			if err := w.enter(unix.AT_FDCWD, "/", "/"); err != nil {
				return nil, err
			}
		}
		todo = append(components(link), todo...)
	}
	return nil, nil
}

// Resolve gives the path of a directory without the links that lead there, as the
// kernel names what is there: in a list of mounts, or of a process. What of it is
// missing is as Make would make it.
func Resolve(path string, rule Rule) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	w := &walk{rule: rule, path: abs, anybody: os.Geteuid() != 0, fd: -1}
	defer func() { _ = unix.Close(w.fd) }()
	left, err := w.along(abs)
	if err != nil && (len(left) == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return "", err
	}
	return filepath.Join(append([]string{w.at}, left...)...), nil
}

func components(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" || s == "." })
}

// openPlain is an ordinary user's way: the kernel's.
func openPlain(abs string, rule Rule, mk bool, perm fs.FileMode) (*Dir, error) {
	if mk {
		if err := os.MkdirAll(abs, perm); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(abs, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return newDir(f, abs, rule)
}

// step goes into one component, or gives the link that it is.
func (w *walk) step(name string) (link string, err error) {
	at := filepath.Join(w.at, name)
	fd, err := lookat(w.fd, name)
	if errors.Is(err, unix.ENOENT) && w.make {
		perm := w.perm
		if shared(&w.stat) {
			perm = closed
		}
		// Whoever was quicker is looked at as anything else.
		if err := unix.Mkdirat(w.fd, name, uint32(perm.Perm())); err != nil && !errors.Is(err, unix.EEXIST) {
			return "", &fs.PathError{Op: "mkdir", Path: at, Err: err}
		}
		fd, err = lookat(w.fd, name)
	}
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: at, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return "", &fs.PathError{Op: "stat", Path: at, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", w.take(fd, at, &st, name == "..")
	}
	defer func() { _ = unix.Close(fd) }()
	link, err = readlink(fd)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: at, Err: err}
	}
	if !w.anybody && (shared(&w.stat) || !ours(w.stat.Uid) || !ours(st.Uid)) {
		return "", &UnsafeError{Path: w.path, At: at, UID: int(st.Uid),
			Why: fmt.Sprintf("is a symbolic link (to %s) that %s could have made", link, whoCould(&w.stat, at)),
			Fix: "name the place itself, without the link"}
	}
	return link, nil
}

// enter goes to a directory that stands first on a way.
func (w *walk) enter(dir int, name, at string) error {
	fd, err := openat(dir, name, unix.O_PATH)
	if err != nil {
		return &fs.PathError{Op: "open", Path: at, Err: err}
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		_ = unix.Close(fd)
		return &fs.PathError{Op: "stat", Path: at, Err: err}
	}
	return w.take(fd, at, &st, true)
}

// take makes a directory the one where we are, if it may lie on the way. Up
// says that it is above the one where we were.
func (w *walk) take(fd int, at string, st *unix.Stat_t, up bool) error {
	err := w.rule.look(w.path, at, st)
	if w.anybody && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		up, err = true, nil
	}
	if err == nil && !up && shared(&w.stat) && shared(st) {
		err = &UnsafeError{Path: w.path, At: at, UID: int(st.Uid),
			Why: fmt.Sprintf("can be written to by others (mode %04o), as can the directory that it lies in", st.Mode&0o7777),
			Fix: "choose a directory that is not there yet, or chmod go-w " + at}
	}
	if err == nil && !up && w.rule.Lasting && shared(&w.stat) && w.stat.Mode&unix.S_ISVTX == 0 {
		err = &UnsafeError{Path: w.path, At: w.at, UID: int(w.stat.Uid),
			Why: fmt.Sprintf("can be written to by others (mode %04o): they could put another directory in the place of %s", w.stat.Mode&0o7777, at),
			Fix: "chmod go-w " + w.at + ", or choose another place"}
	}
	if err != nil {
		_ = unix.Close(fd)
		return err
	}
	if w.fd >= 0 {
		_ = unix.Close(w.fd)
	}
	w.fd, w.at, w.stat = fd, at, *st
	return nil
}

// look refuses what is no directory of somebody whom the rule trusts.
func (r Rule) look(path, at string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return &fs.PathError{Op: "open", Path: at, Err: unix.ENOTDIR}
	}
	if !r.trusts(st.Uid) {
		return &UnsafeError{Path: path, At: at, UID: int(st.Uid), Why: "belongs to " + whose(int(st.Uid)),
			Fix: "choose a directory of your own, or work for that user (sudo, or PLIMSOLL_USER=NAME)"}
	}
	return nil
}

func (r Rule) trusts(uid uint32) bool { return ours(uid) || slices.Contains(r.Owners, int(uid)) }

// ours says whether a user is root or ourselves.
func ours(uid uint32) bool { return uid == 0 || int(uid) == os.Geteuid() }

// shared says whether others than its owner may write to a directory.
func shared(st *unix.Stat_t) bool { return othersWrite(st.Mode, st.Uid, st.Gid) }

// whoCould says who could have put something into a directory.
func whoCould(dir *unix.Stat_t, at string) string {
	if shared(dir) {
		return fmt.Sprintf("anyone who may write to %s (mode %04o)", filepath.Dir(at), dir.Mode&0o7777)
	}
	return whose(int(dir.Uid))
}

// lookat opens a component to look at it, a link too. A directory is asked for
// first: only then does the kernel mount what is mounted on demand (open(2),
// O_PATH), as home directories often are.
func lookat(dir int, name string) (int, error) {
	fd, err := openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW)
	}
	return fd, err
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// readlink reads the link that is open.
func readlink(fd int) (string, error) {
	for size := 256; ; size *= 2 {
		b := make([]byte, size)
		n, err := unix.Readlinkat(fd, "", b)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(b[:n]), nil
		}
	}
}
