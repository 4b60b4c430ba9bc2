package safepath

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Open opens a directory that is there, and looks at all that leads to it.
// Errors are *UnsafeError or the kernel's.
func Open(path string, rule Rule) (*Dir, error) { return open(path, rule, false, 0) }

// Make opens a directory and makes what of it is missing, with perm below the
// umask; what is new in a directory that others may write to has 0700.
func Make(path string, perm fs.FileMode, rule Rule) (*Dir, error) {
	return open(path, rule, true, perm)
}

// OpenParent opens the directory that a file lies, or is to lie, in and gives
// the file's name there.
func OpenParent(path string, rule Rule) (*Dir, string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	name := filepath.Base(abs)
	if err := plain(name); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	d, err := Open(filepath.Dir(abs), rule)
	return d, name, err
}

// Path is where the directory was when it was opened, for messages and for
// what can only be called by a path.
func (d *Dir) Path() string { return d.path }

// Create makes a new file and opens it for reading and writing; one of this
// name, or a link, is an error that is fs.ErrExist.
func (d *Dir) Create(name string, perm fs.FileMode) (*os.File, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	return d.create(name, perm)
}

// OpenFile opens a file that is there, or makes it where flag has os.O_CREATE.
// It never waits and follows no link; what is not a regular file is
// ErrNotRegular. Root, when it is to write, also refuses a file that is neither
// its own nor a trusted owner's, and one that has a second name elsewhere.
func (d *Dir) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	if flag&os.O_CREATE != 0 {
		f, err := d.create(name, perm)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	// Nothing is cut off before we know what it is.
	f, err := d.openFile(name, flag&^(os.O_CREATE|os.O_TRUNC))
	if err == nil && flag&os.O_TRUNC != 0 {
		if err = f.Truncate(0); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, err
}

// ReadFile returns the content of a file, opened by OpenFile. One of more than limit
// bytes is an error; expected is what the file should be.
func (d *Dir) ReadFile(name string, limit int64, expected string) ([]byte, error) {
	return readAndClose(limit, expected)(d.OpenFile(name, os.O_RDONLY, 0))
}

// tempTail ends the name of what is not yet what it is to become.
const tempTail = ".new"

// Temp makes a new file beside the one that it is to become. Its name can't be
// guessed, and no file of anybody's has it.
func (d *Dir) Temp(of string, perm fs.FileMode) (*os.File, string, error) {
	name := "." + of + "-" + strings.ToLower(rand.Text()[:12]) + tempTail
	f, err := d.Create(name, perm)
	return f, name, err
}

// IsTemp says whether a name is one of Temp's for a file.
func IsTemp(name, of string) bool {
	middle, ok := strings.CutPrefix(name, "."+of+"-")
	middle, tail := strings.CutSuffix(middle, tempTail)
	return ok && tail && len(middle) == 12
}

// WriteFile puts a file in its place, whole and durable, or leaves what was
// there: the new content is on the disk before it gets the name. Root replaces
// only what Replaceable allows.
func (d *Dir) WriteFile(name string, data []byte, perm fs.FileMode) error {
	if err := d.Replaceable(name); err != nil {
		return err
	}
	f, temp, err := d.Temp(name, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	return d.Sync()
}

// Rename gives a file in the directory another name in it. What had that name
// is replaced; a link is replaced and not followed.
func (d *Dir) Rename(from, to string) error {
	if err := errors.Join(plain(from), plain(to)); err != nil {
		return err
	}
	return d.rename(from, to)
}

// Mkdir makes a new directory and opens it: fs.ErrExist where something of
// this name is there. It has perm below the umask; root gives it 0700 where
// others may write to d.
func (d *Dir) Mkdir(name string, perm fs.FileMode) (*Dir, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	return d.mkdir(name, perm)
}

// Sub opens a directory in d, under the rule by which d was opened.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := plain(name); err != nil {
		return nil, err
	}
	return d.sub(name)
}

// MakeSub opens a directory in d and makes it where it is missing.
func (d *Dir) MakeSub(name string, perm fs.FileMode) (*Dir, error) {
	made, err := d.Mkdir(name, perm)
	if err == nil || !errors.Is(err, fs.ErrExist) {
		return made, err
	}
	return d.Sub(name)
}

// Remove removes a file, a link or an empty directory.
func (d *Dir) Remove(name string) error {
	if err := plain(name); err != nil {
		return err
	}
	return d.remove(name)
}

// RemoveAll removes what bears the name, with all that is in it. No link is
// followed, and nothing behind a mount is touched: that is ErrMounted, after
// all else is gone. What is not there is no error.
func (d *Dir) RemoveAll(name string) error {
	if err := plain(name); err != nil {
		return err
	}
	return d.removeAll(name)
}

// RemoveAll is os.RemoveAll that stops at mounts, as Dir.RemoveAll does: no list tells of
// each of them, and what is mounted in a directory of ours may be somebody's. The way to
// the directory is the kernel's, links and all.
func RemoveAll(path string) error {
	if path == "" {
		return nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	name := filepath.Base(abs)
	if err := plain(name); err != nil {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return removeAll(filepath.Dir(abs), name)
}

var errName = errors.New("it is not the name of a single file")

// plain refuses what is more than one component.
func plain(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"+string(filepath.Separator)) {
		return fmt.Errorf("%q: %w", name, errName)
	}
	return nil
}
