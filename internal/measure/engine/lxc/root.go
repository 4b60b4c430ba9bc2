package lxc

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
)

// view is a read-only view of an image's directory. LXC makes a file in the
// root directory and removes it again, to keep its file system from being
// remounted, unless it can't write there; and the directory is shared.
type view struct {
	kit     *engine.Kit
	path    string
	mounted bool
}

func newView(kit *engine.Kit, image, path string) (*view, error) {
	v := &view{kit: kit, path: path}
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
		return nil, errors.Join(fmt.Errorf("mounting %s at %s: %w", image, path, err), v.remove())
	}
	return v, nil
}

// remove undoes newView; it may be called twice, and on nil. The directory is
// removed only when it is empty, that is, when nothing is mounted there.
func (v *view) remove() error {
	if v == nil {
		return nil
	}
	if v.mounted {
		if err := unix.Unmount(v.path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH); err != nil {
			return fmt.Errorf("unmounting %s: %w", v.path, err)
		}
		v.mounted = false
	}
	if err := os.Remove(v.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return v.kit.Ledger.Gone(engine.Thing{Kind: engine.KindMount, Name: v.path})
}
