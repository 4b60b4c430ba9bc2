package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
)

// View is a read-only view of an image's directory, at a place of the run's own:
// engines write files into the directory that they are given, or beside it, and the
// image's is shared.
type View struct {
	Path    string
	kit     *engine.Kit
	mounted bool
}

// NewView makes one at a path, with the directories on the way. Where it could not be
// mounted as it should be it is given too: what is above it must not be removed before it.
func NewView(kit *engine.Kit, image, path string) (*View, error) {
	v := &View{kit: kit, Path: path}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	if err := kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: path}); err != nil {
		return nil, err
	}
	err := unix.Mount(image, path, "", unix.MS_BIND, "")
	v.mounted = err == nil
	if err == nil { // a bind mount takes this only when it is mounted again, see mount(2)
		err = unix.Mount("", path, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")
	}
	if err == nil {
		err = unix.Mount("", path, "", unix.MS_PRIVATE, "")
	}
	if err != nil {
		return v, errors.Join(fmt.Errorf("mounting %s at %s: %w", image, path, err), v.Remove())
	}
	return v, nil
}

// Remove undoes NewView; it may be called twice, and on nil. The directory is
// removed only when it is empty, that is, when nothing is mounted there.
func (v *View) Remove() error {
	if v == nil {
		return nil
	}
	if v.mounted {
		if err := Detach(v.Path); err != nil {
			return err
		}
		v.mounted = false
	}
	if err := RemoveIfThere(v.Path); err != nil {
		return err
	}
	return v.kit.Ledger.Gone(engine.Thing{Kind: engine.KindMount, Name: v.Path})
}

// Detach unmounts what is at a path, which may be in use; where nothing is mounted,
// that is done.
func Detach(path string) error {
	err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("unmounting %s: %w", path, err)
	}
	return nil
}

// RemoveIfThere removes a file or an empty directory; what is not there is gone.
func RemoveIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
