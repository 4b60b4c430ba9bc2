package adapter

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/measure/probe"
)

// Path is what commands of engines find programs by.
const Path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// As makes a command that of a user, with that one's environment and nothing
// of ours. A nil user is ourselves, as root.
func As(cmd probe.Command, user *engine.User, kit *engine.Kit) probe.Command {
	if user == nil {
		cmd.Env = append([]string{Path, "HOME=/root", "USER=root", "LOGNAME=root"}, cmd.Env...)
		return cmd
	}
	env := []string{Path, "HOME=" + user.Home, "USER=" + user.Name, "LOGNAME=" + user.Name}
	if user.RuntimeDir != "" {
		env = append(env, "XDG_RUNTIME_DIR="+user.RuntimeDir)
	}
	cmd.Env = append(env, cmd.Env...)
	if kit.Root {
		cmd.UID, cmd.GID, cmd.Groups, cmd.SetUser = user.UID, user.GID, user.Groups, true
	}
	return cmd
}

// Identity is who runs the containers of a spec: root (nil) with rootless=no,
// the kit's ordinary user with rootless=yes, and by default whoever we are.
func Identity(kit *engine.Kit, spec engine.Spec) (*engine.User, error) {
	rootless := spec.Level(engine.Rootless)
	if rootless == "no" || (rootless == engine.DefaultLevel && kit.Root) {
		return nil, nil
	}
	if kit.User == nil {
		return nil, fmt.Errorf("there is no ordinary user: %s", kit.NoUser)
	}
	return kit.User, nil
}

// RootlessLevels says which levels of rootless can be had.
func RootlessLevels(kit *engine.Kit) []engine.Level {
	no, yes := engine.Level{Name: "no", Usable: kit.Root}, engine.Level{Name: "yes", Usable: kit.User != nil}
	if !no.Usable {
		no.Reason, no.Fix = "needs root", "sudo plimsoll …"
	}
	if !yes.Usable {
		yes.Reason = cmp.Or(kit.NoUser, "there is no ordinary user")
	}
	return []engine.Level{no, yes}
}

// AsUser calls f with the rights of a user, where we are root and it is
// another: whatever is done in that one's directories is done so.
func AsUser(user *engine.User, kit *engine.Kit, f func() error) error {
	if user == nil || !kit.Root {
		return f()
	}
	return thread.As(user.UID, user.GID, user.Groups, f)
}

// OwnDir makes a directory for a user's engine, in one of the user's own or in
// one of ours; one of the user's that is there already will do. Root makes it
// itself only in a directory that nobody else can write to.
func OwnDir(dir string, user *engine.User, kit *engine.Kit) error {
	return OwnDirMode(dir, user, kit, 0o755)
}

// OwnDirMode is OwnDir with a mode, below the umask.
func OwnDirMode(dir string, user *engine.User, kit *engine.Kit, mode fs.FileMode) error {
	if user == nil || !kit.Root {
		return os.MkdirAll(dir, mode)
	}
	err := AsUser(user, kit, func() error { return os.Mkdir(dir, mode) })
	if err == nil || errors.Is(err, fs.ErrExist) && ownedBy(dir, user.UID) {
		return nil
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	parent, name, err := safepath.OpenParent(dir, safepath.Caller(kit.Getenv))
	if err != nil {
		return err
	}
	defer parent.Close()
	if !parent.OursAlone() {
		return fmt.Errorf("making %s for the user %s: %s is not ours alone", dir, user.Name, parent.Path())
	}
	made, err := parent.Mkdir(name, mode)
	if err != nil {
		return err
	}
	defer made.Close()
	return made.Give(user.UID, user.GID)
}

// ownedBy says whether there is a directory, and no link, of a user's.
func ownedBy(dir string, uid int) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && safepath.OwnedBy(info, uid)
}

// RemoveDir removes a directory that OwnDir has made, with all that is in it:
// what is the user's with that one's rights, so that root never goes where the
// user may have led to. What is mounted in it is unmounted where the ledger has
// it, and else in the way.
func RemoveDir(dir string, user *engine.User, kit *engine.Kit) error {
	if err := unmountOurs(dir, kit); err != nil {
		return err
	}
	if user == nil || !kit.Root {
		return safepath.RemoveAll(dir)
	}
	err := AsUser(user, kit, func() error { return safepath.RemoveAll(dir) })
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// The directory that it lies in is ours, or files in it are of other ids.
	parent, name, perr := safepath.OpenParent(dir, safepath.Caller(kit.Getenv))
	if perr != nil {
		return errors.Join(err, perr)
	}
	defer parent.Close()
	return parent.RemoveAll(name)
}

// unmountOurs unmounts what is mounted at or below a directory, the last mount first.
// Where one is in no ledger nothing is done. Of two at one place an entry has one only.
func unmountOurs(dir string, kit *engine.Kit) error {
	points, err := proc.Here.MountedBelow(dir)
	if err != nil || len(points) == 0 {
		return err
	}
	ours := engine.OfKind(kit.Ledger.Left(), engine.KindMount)
	entries := make([]engine.Thing, len(points))
	for i, p := range points {
		k := slices.IndexFunc(ours, func(t engine.Thing) bool { return t.Name == p || withoutLinks(t.Name, kit) == p })
		if k < 0 {
			return fmt.Errorf("%s is not removed: something is mounted at %s that is not this run's; umount %s, then run plimsoll clean", dir, p, p)
		}
		entries[i] = ours[k]
		ours = slices.Delete(ours, k, k+1)
	}
	for i, p := range slices.Backward(points) {
		if err := unix.Unmount(p, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			return &fs.PathError{Op: "unmount", Path: p, Err: err}
		}
		if err := kit.Ledger.Gone(entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// withoutLinks is a path as the kernel names it in its list of mounts. Links that others
// could have made are not followed.
func withoutLinks(path string, kit *engine.Kit) string {
	above, err := safepath.Resolve(filepath.Dir(path), safepath.Caller(kit.Getenv))
	if err != nil {
		return path
	}
	return filepath.Join(above, filepath.Base(path))
}
