//go:build linux

package image

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lock waits until no other process changes the store. It is an advisory lock
// on a file that stays: the kernel lets go of it when its holder is killed.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	return s.lockFile(ctx, "lock")
}

// lockItem waits until nobody else makes this item, or takes images away:
// different items are made at the same time.
func (s *Store) lockItem(ctx context.Context, p string) (unlock func(), err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	shared, err := s.flock(ctx, filepath.Join(s.dir, "lock"), unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	if err := mkdirAll(s.dir, filepath.Dir(p)); err != nil {
		shared()
		return nil, &Error{Text: "locking the image store", Err: err}
	}
	// Whoever takes the directory away has the store's lock, so this file stays.
	own, err := s.flock(ctx, filepath.Join(filepath.Dir(p), ".lock-"+filepath.Base(p)), unix.LOCK_EX)
	if err != nil {
		shared()
		return nil, err
	}
	return func() { own(); shared() }, nil
}

func (s *Store) lockFile(ctx context.Context, name string) (unlock func(), err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.flock(ctx, filepath.Join(s.dir, name), unix.LOCK_EX)
}

func (s *Store) flock(ctx context.Context, file string, how int) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, &Error{Text: "locking the image store", Err: err}
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, &Error{Text: "locking the image store by " + file, Err: err}
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, &Error{Text: "waiting for another Plimsoll that builds images in " + s.dir, Err: ctx.Err()}
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// open makes the store's directory and refuses one that somebody else could
// write to: what lies in it is run, perhaps as root.
func (s *Store) open() error {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return &Error{Text: "making the image store", Err: err}
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return &Error{Text: "opening the image store", Err: err}
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return &Error{Text: fmt.Sprintf("the image store %s belongs to another user", s.dir), Fix: "choose another state directory"}
	}
	if info.Mode()&0o022 != 0 {
		return &Error{
			Text: fmt.Sprintf("the image store %s can be written to by others (mode %04o)", s.dir, info.Mode().Perm()),
			Fix:  "chmod go-w " + s.dir,
		}
	}
	// A strict umask must not shut out the engines of ordinary users.
	if info.Mode()&0o055 != 0o055 {
		if err := os.Chmod(s.dir, 0o755); err != nil {
			return &Error{Text: "opening the image store to readers", Err: err}
		}
	}
	return nil
}

// mkdirAll makes dir below base, readable by everybody whatever the umask.
func mkdirAll(base, dir string) error {
	rel, err := filepath.Rel(base, dir)
	if err != nil {
		return err
	}
	p := base
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		p = filepath.Join(p, part)
		if err := os.Mkdir(p, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := os.Chmod(p, 0o755); err != nil {
			return err
		}
	}
	return nil
}
