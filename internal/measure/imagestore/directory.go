//go:build linux

package imagestore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// writeDirectory unpacks the tree into dir, which must not exist. Everything
// belongs to whoever runs this.
func (t tree) writeDirectory(dir string) error {
	for i := range t {
		e := &t[i]
		file := filepath.Join(dir, filepath.FromSlash(e.path))
		var err error
		switch e.kind {
		case kindDir:
			err = os.Mkdir(file, 0o755)
		case kindLink:
			err = os.Symlink(e.link, file)
		default:
			err = e.writeFile(file)
		}
		// The umask took bits away, so the mode is set on its own.
		if err == nil && e.kind != kindLink {
			err = os.Chmod(file, goMode(e.mode))
		}
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", e.path, err)
		}
	}
	// Backwards: to set a child's time leaves its directory's alone, but to
	// create one does not.
	for _, e := range slices.Backward(t) {
		if err := setTime(filepath.Join(dir, filepath.FromSlash(e.path))); err != nil {
			return fmt.Errorf("setting the time of %s: %w", e.path, err)
		}
	}
	return nil
}

func (e *entry) writeFile(file string) error {
	from, err := e.content()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// makeReadable lets everybody read what is under dir, so that an ordinary
// user's engine can use what root has made.
func makeReadable(dir string) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
		}
		return os.Chmod(file, mode)
	})
}

// setTime gives the fixed time to a file, or to a link itself.
func setTime(file string) error {
	ts := unix.NsecToTimespec(epoch.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, file, []unix.Timespec{ts, ts}, unix.AT_SYMLINK_NOFOLLOW)
}
