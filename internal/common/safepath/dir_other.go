//go:build !linux

package safepath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Dir is a directory.
type Dir struct {
	path string
	rule Rule
}

func open(path string, rule Rule, mk bool, perm fs.FileMode) (*Dir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if mk {
		if err := os.MkdirAll(abs, perm); err != nil {
			return nil, err
		}
	}
	return at(abs, rule)
}

// Resolve gives the path as it is: what follows links, and whether that is safe, is
// known on Linux only.
func Resolve(path string, _ Rule) (string, error) { return filepath.Abs(path) }

func at(path string, rule Rule) (*Dir, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("it is not a directory")}
	}
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, rule: rule}, nil
}

// Close lets go of the directory.
func (d *Dir) Close() error { return nil }

// Shared is known on Linux only.
func (d *Dir) shared() bool { return false }

// OursAlone is known on Linux only.
func (d *Dir) OursAlone() bool { return true }

// Closed is known on Linux only.
func (d *Dir) Closed() error { return nil }

// Owner is known on Linux only: -1.
func (d *Dir) Owner() int { return -1 }

// Sync does nothing: a name is durable when the system says so.
func (d *Dir) Sync() error { return nil }

// List gives what is in the directory, in no order.
func (d *Dir) List() ([]fs.DirEntry, error) { return os.ReadDir(d.path) }

// Give is for Linux only.
func (d *Dir) Give(int, int) error { return errors.ErrUnsupported }

// Group is for Linux only.
func (d *Dir) Group(int) error { return errors.ErrUnsupported }

// Chmod gives the directory itself a mode.
func (d *Dir) Chmod(perm fs.FileMode) error { return os.Chmod(d.path, perm) }

// Replaceable says whether a file may be put in the place of what bears the
// name: of nothing, or of a regular file.
func (d *Dir) Replaceable(name string) error {
	if err := plain(name); err != nil {
		return err
	}
	info, err := os.Lstat(d.join(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return notRegular("replace", d.join(name), info.Mode())
	}
	return nil
}

// OpenSpecial opens for writing what bears the name and is no file that could
// be replaced; nil where there is none such.
func (d *Dir) OpenSpecial(name string) (*os.File, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	info, err := os.Stat(d.join(name))
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil, nil
	}
	return os.OpenFile(d.join(name), os.O_WRONLY, 0)
}

func (d *Dir) join(name string) string { return filepath.Join(d.path, name) }

func (d *Dir) create(name string, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(d.join(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

func (d *Dir) openFile(name string, flag int) (*os.File, error) {
	return openOnly(d.join(name), flag, 0, os.Lstat, os.OpenFile)
}

func (d *Dir) mkdir(name string, perm fs.FileMode) (*Dir, error) {
	if err := os.Mkdir(d.join(name), perm); err != nil {
		return nil, err
	}
	return d.sub(name)
}

func (d *Dir) sub(name string) (*Dir, error) { return at(d.join(name), d.rule) }

func (d *Dir) rename(from, to string) error { return os.Rename(d.join(from), d.join(to)) }

func (d *Dir) remove(name string) error { return os.Remove(d.join(name)) }

func (d *Dir) removeAll(name string) error { return os.RemoveAll(d.join(name)) }

func removeAll(in, name string) error { return os.RemoveAll(filepath.Join(in, name)) }
