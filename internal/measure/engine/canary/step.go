package canary

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// step is how to take one canary away again, as data: whoever finds it in the
// ledger can do it, after the process that planted it is gone.
type step struct {
	What string `json:"what"`
	// How says what is done with Path; empty where commands do it.
	How  string `json:"how,omitempty"`
	Path string `json:"path,omitempty"`
	// Undo are the commands, in their order; the last one tells whether it is gone.
	Undo []tool `json:"undo,omitempty"`
	// Look succeeds while the canary is there, and is ours; nil where Path says it.
	Look *tool `json:"look,omitempty"`
	// Reach succeeds where who holds the canary can be asked at all.
	Reach *tool `json:"reach,omitempty"`
}

// What is done with a path.
const (
	removeTree   = "remove"          // a directory of ours, with what is in it
	removeEmpty  = "remove if empty" // somebody else may use it by now
	removeGroup  = "remove group"    // a control group, as soon as its processes have ended
	unmountPoint = "unmount"
)

// unreachableError says that nobody can tell now whether a canary is there.
type unreachableError struct{ error }

// undo takes the canary away. It is no error that it is gone: whoever looks for it
// has said so.
func (s step) undo(ctx context.Context) error {
	switch s.How {
	case removeTree:
		return removeOurs(s.Path)
	case removeEmpty:
		_ = os.Remove(s.Path) // it stays where it is in use
		return nil
	case removeGroup:
		return removeWhenEmpty(ctx, s.Path)
	case unmountPoint:
		err := unix.Unmount(s.Path, unix.UMOUNT_NOFOLLOW)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
			return nil // nothing is mounted there
		}
		return err
	}
	var err error
	for _, p := range s.Undo {
		err = p.run(ctx)
	}
	if err != nil {
		if is, lerr := s.isThere(ctx); !is {
			return lerr
		}
	}
	return err
}

// makeUp takes away what a process that is gone has planted, or was about to: what
// bears the name by now may be another's, so that it is looked at first.
func (s step) makeUp(ctx context.Context) error {
	if is, err := s.isThere(ctx); !is {
		return err
	}
	return s.undo(ctx)
}

// isThere says whether the canary is, as far as commands can tell.
func (s step) isThere(ctx context.Context) (bool, error) {
	if s.Look == nil || s.Look.run(ctx) == nil {
		return true, nil
	}
	if s.Reach != nil {
		if err := s.Reach.run(ctx); err != nil {
			return false, unreachableError{err}
		}
	}
	return false, nil
}

// removeOurs removes a directory that is our user's, and what is in it. What is
// mounted there stays, and so does the directory.
func removeOurs(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || !fi.IsDir() || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is no longer a directory of this run", path)
	}
	mounts, err := proc.Here.Mounts(proc.Self)
	if err != nil {
		return err
	}
	if below := proc.Below(mounts, path); len(below) > 0 {
		return fmt.Errorf("something is mounted at %s", below[0])
	}
	return safepath.RemoveAll(path)
}

// removeWhenEmpty removes a control group. Its processes end when the test's does,
// and the kernel takes a moment for it.
func removeWhenEmpty(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		err := os.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		if !engine.Pause(ctx, 10*time.Millisecond) {
			return err
		}
	}
}
