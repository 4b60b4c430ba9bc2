//go:build linux

package imagestore

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
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
	shared, err := s.flock(ctx, filepath.Join(s.dir, "lock"), filelock.TryLook)
	if err != nil {
		return nil, err
	}
	if err := mkdirAll(s.dir, filepath.Dir(p), innerMode); err != nil {
		shared()
		return nil, &Error{Text: "locking the image store", Err: err}
	}
	// Whoever takes the directory away has the store's lock, so this file stays.
	own, err := s.flock(ctx, filepath.Join(filepath.Dir(p), ".lock-"+filepath.Base(p)), filelock.TryLock)
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
	return s.flock(ctx, filepath.Join(s.dir, name), filelock.TryLock)
}

func (s *Store) flock(ctx context.Context, file string, try func(*os.File) error) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, &Error{Text: "locking the image store", Err: err}
	}
	switch err = filelock.Wait(ctx, f, try); {
	case err == nil:
		return func() { f.Close() }, nil
	case ctx.Err() != nil:
		err = &Error{Text: "waiting for another Plimsoll that builds images in " + s.dir, Err: err}
	default:
		err = &Error{Text: "locking the image store by " + file, Err: err}
	}
	f.Close()
	return nil, err
}
