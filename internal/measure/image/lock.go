//go:build linux

package image

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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
	if err := mkdirAll(s.dir, filepath.Dir(p), innerMode); err != nil {
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
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
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
