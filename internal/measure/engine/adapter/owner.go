package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// Shims and monitors of engines give a runtime the machine's /dev/null as standard input,
// and gVisor gives that to the container's user. What Plimsoll starts itself gets another
// one (internal/common/devnull).

// NoteNull enters into the ledger to whom /dev/null belongs, before a runtime may change
// it, and returns the function that puts it back. Nothing is noted where it is not root's:
// then another run has noted it, or its owner wants it so.
func NoteNull(kit *engine.Kit) (putBack func() error, err error) {
	return noteOwner(kit, os.DevNull)
}

const deviceFormat = "boot %s device %d inode %d"

func noteOwner(kit *engine.Kit, path string) (putBack func() error, err error) {
	putBack = func() error { return nil }
	var st unix.Stat_t
	if !kit.Root || unix.Lstat(path, &st) != nil || st.Uid != 0 || !isNull(st) {
		return putBack, nil
	}
	at, err := deviceAt(st)
	if err != nil {
		return putBack, err
	}
	t := engine.Thing{Kind: engine.KindOwner, Name: path, At: at, Was: idsOf(st)}
	return func() error {
		if _, err := PutBackOwner(t); err != nil {
			return err
		}
		return kit.Ledger.Gone(t)
	}, kit.Ledger.Made(t)
}

// PutBackOwner gives a null device back to root, as a ledger names it; did says that it
// had to be done. It is left as it is where it is another device by now, since a boot too,
// and where root has it.
func PutBackOwner(t engine.Thing) (did bool, err error) {
	fd, err := unix.Open(t.Name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("opening %s: %w", t.Name, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, fmt.Errorf("looking to whom %s belongs: %w", t.Name, err)
	}
	if at, err := deviceAt(st); err != nil || !isNull(st) || at != t.At || st.Uid == 0 {
		return false, err
	}
	var gid int
	if _, err := fmt.Sscanf(t.Was, "0:%d", &gid); err != nil {
		return false, fmt.Errorf("%q is not an owner of %s: %w", t.Was, t.Name, err)
	}
	if err := unix.Fchownat(fd, "", 0, gid, unix.AT_EMPTY_PATH); err != nil {
		return false, fmt.Errorf("a runtime gave %s to the user %s, and it can't be given back: %w; chown %s %s", t.Name, idsOf(st), err, t.Was, t.Name)
	}
	return true, nil
}

func isNull(st unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == unix.Mkdev(1, 3)
}

func idsOf(st unix.Stat_t) string { return fmt.Sprintf("%d:%d", st.Uid, st.Gid) }

func deviceAt(st unix.Stat_t) (string, error) {
	boot, err := proc.Here.Boot()
	return fmt.Sprintf(deviceFormat, boot, st.Dev, st.Ino), err
}
