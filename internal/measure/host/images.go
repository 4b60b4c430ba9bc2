//go:build linux

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/safepath"
)

// ImageTurn waits until no other Plimsoll of this user loads an image into an
// engine's own store, or removes one from it, and returns how to let go of the turn.
//
// Docker counts an image's tags, and when the one that it has just removed was the
// last it removes the image with all tags that it has by then: one that another
// process has set meanwhile is gone, though nobody removed it. Two runs load the
// same images, since they are the same bits.
//
// Where no lock can be made, for want of a directory, nobody is waited for.
func ImageTurn(ctx context.Context, engine string) (leave func(), err error) {
	return imageTurn(ctx, engine, os.Geteuid() == 0, os.Getenv)
}

func imageTurn(ctx context.Context, engine string, root bool, getenv func(string) string) (func(), error) {
	nobody := func() {}
	own := systemLock
	if !root {
		var err error
		if own, err = (Machine{}).userLock(getenv); err != nil {
			return nobody, nil //nolint:nilerr // there is no place for a lock
		}
	}
	dir, err := safepath.Make(filepath.Dir(own), 0o755, safepath.Rule{Lasting: true})
	if err != nil {
		return nobody, nil //nolint:nilerr // as above
	}
	defer dir.Close()
	if !dir.OursAlone() {
		return nobody, nil
	}
	f, err := dir.OpenFile("images-"+engine, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nobody, nil //nolint:nilerr // as above
	}
	switch err := filelock.Wait(ctx, f, filelock.TryLock); {
	case err == nil:
		return func() { f.Close() }, nil
	case ctx.Err() != nil:
		f.Close()
		return nil, fmt.Errorf("waiting for another Plimsoll that loads images into %s or removes them: %w", engine, err)
	}
	f.Close()
	return nobody, nil // a file system without locks
}
