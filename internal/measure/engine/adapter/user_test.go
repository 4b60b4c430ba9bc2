package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// stranger is the ordinary user of these tests.
const stranger = 64996

func ofRoot(t *testing.T) (kit *engine.Kit, user *engine.User, ours, theirs string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root works in other users' directories")
	}
	top := t.TempDir()
	require.Reachable(t, top)
	ours, theirs = filepath.Join(top, "ours"), filepath.Join(top, "theirs")
	err := errors.Join(os.Mkdir(ours, 0o755), os.Mkdir(theirs, 0o755), os.Chown(theirs, stranger, stranger))
	require.NoError(t, err)
	return &engine.Kit{Root: true, Getenv: func(string) string { return "" }},
		&engine.User{Name: "u", UID: stranger, GID: stranger}, ours, theirs
}

func owner(t *testing.T, path string) uint32 {
	t.Helper()
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(path, &st))
	return st.Uid
}

// TestOwnDir: a directory of ours or of the user's gets one of the user's, and
// root gives nothing away that it has not made.
func TestOwnDir(t *testing.T) {
	kit, user, ours, theirs := ofRoot(t)
	for _, dir := range []string{filepath.Join(ours, "new"), filepath.Join(theirs, "new"), filepath.Join(theirs, "new")} {
		if err := OwnDirMode(dir, user, kit, 0o700); err != nil || owner(t, dir) != stranger {
			t.Errorf("%s is the user %d's (%v)", dir, owner(t, dir), err)
		}
	}
	precious := filepath.Join(ours, "precious")
	link := filepath.Join(theirs, "link")
	through := filepath.Join(theirs, "through")
	err := errors.Join(os.Mkdir(precious, 0o755), os.Symlink(precious, link), os.Symlink(ours, through))
	require.NoError(t, err)
	for _, dir := range []string{link, precious, filepath.Join(link, "in"), filepath.Join(through, "precious"), filepath.Join(through, "in")} {
		if err := OwnDir(dir, user, kit); err == nil {
			t.Errorf("%s: it was made or given away", dir)
		}
	}
	if owner(t, precious) != 0 {
		t.Error("a directory of root's was given away")
	}
	if entries, err := os.ReadDir(ours); err != nil || len(entries) != 2 {
		t.Errorf("in ours there are %v (%v)", entries, err)
	}
}

// TestRemoveDir: what the user has led elsewhere is not removed there.
func TestRemoveDir(t *testing.T) {
	kit, user, ours, theirs := ofRoot(t)
	precious := filepath.Join(ours, "precious")
	file := filepath.Join(precious, "d/file")
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600), os.Symlink(ours, filepath.Join(theirs, "through")))
	require.NoError(t, err)
	if err := RemoveDir(filepath.Join(theirs, "through/precious"), user, kit); err == nil {
		t.Error("a way through a user's link was taken")
	}
	for _, parent := range []string{ours, theirs} {
		dir := filepath.Join(parent, "own")
		require.NoError(t, OwnDir(dir, user, kit))
		require.NoError(t, errors.Join(os.Symlink(precious, filepath.Join(dir, "link")), os.Mkdir(filepath.Join(dir, "sub"), 0o700)))
		for range 2 {
			if err := RemoveDir(dir, user, kit); err != nil {
				t.Errorf("removing %s: %v", dir, err)
			}
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", dir, err)
		}
	}
	if _, err := os.Lstat(file); err != nil {
		t.Errorf("a file of root's: %v", err)
	}
}

// TestRemoveDirWithAMount: what somebody has mounted in a directory of ours is neither
// emptied nor unmounted, and what the ledger has is unmounted.
func TestRemoveDirWithAMount(t *testing.T) {
	kit, stranger, ours, theirs := ofRoot(t)
	kit.Ledger = &ledger{}
	for name, c := range map[string]struct {
		user   *engine.User
		parent string
	}{"ours": {nil, ours}, "a user's in ours": {stranger, ours}, "a user's": {stranger, theirs}} {
		dir := filepath.Join(c.parent, "own")
		require.NoError(t, OwnDir(dir, c.user, kit))
		precious := filepath.Join(ours, "precious")
		at := filepath.Join(dir, "a/bound")
		require.NoError(t, errors.Join(os.MkdirAll(precious, 0o777), os.Chmod(precious, 0o777),
			AsUser(c.user, kit, func() error { return os.WriteFile(filepath.Join(precious, "file"), nil, 0o644) }),
			AsUser(c.user, kit, func() error { return os.MkdirAll(at, 0o755) })))
		if err := unix.Mount(precious, at, "", unix.MS_BIND, ""); err != nil {
			t.Skip("no mount can be made: ", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		if err := RemoveDir(dir, c.user, kit); err == nil || !strings.Contains(err.Error(), "umount "+at) {
			t.Errorf("%s: with a mount of somebody's: %v", name, err)
		}
		if points, err := proc.Here.MountedBelow(dir); err != nil || len(points) != 1 {
			t.Errorf("%s: somebody's mount is gone: %v, %v", name, points, err)
		}
		require.NoError(t, kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: at}))
		if err := RemoveDir(dir, c.user, kit); err != nil || len(kit.Ledger.Left()) > 0 {
			t.Errorf("%s: with a mount of ours: %v, and the ledger has %v", name, err, kit.Ledger.Left())
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there (%v)", dir, err)
		}
		require.NoError(t, os.Remove(filepath.Join(precious, "file")))
	}
}

// TestRemoveDirByALink: a mount that the ledger has by the way that was taken is ours,
// though the kernel names it without the link; one that somebody lays over it is not.
func TestRemoveDirByALink(t *testing.T) {
	kit, user, ours, theirs := ofRoot(t)
	kit.Ledger = &ledger{}
	link, astray := filepath.Join(ours, "link"), filepath.Join(theirs, "astray")
	require.NoError(t, errors.Join(os.Symlink(ours, link), os.Symlink(ours, astray), os.Lchown(astray, user.UID, user.GID)))
	bound := func(dir string) string {
		t.Helper()
		at := filepath.Join(dir, "bound")
		require.NoError(t, os.MkdirAll(at, 0o755))
		if err := unix.Mount(theirs, at, "", unix.MS_BIND, ""); err != nil {
			t.Skip("no mount can be made: ", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		return at
	}
	at := bound(filepath.Join(link, "own"))
	require.NoError(t, kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: at}))
	bound(filepath.Join(link, "own"))
	if err := RemoveDir(filepath.Join(link, "own"), nil, kit); err == nil || len(kit.Ledger.Left()) != 1 {
		t.Errorf("what somebody has mounted over our mount was unmounted with it: %v", err)
	}
	require.NoError(t, unix.Unmount(at, 0))
	if err := RemoveDir(filepath.Join(link, "own"), nil, kit); err != nil || len(kit.Ledger.Left()) > 0 {
		t.Errorf("with a mount of ours by a link: %v, and the ledger has %v", err, kit.Ledger.Left())
	}
	if _, err := os.Lstat(filepath.Join(ours, "own")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there (%v)", err)
	}
	at = bound(filepath.Join(ours, "theirs"))
	require.NoError(t, kit.Ledger.Made(engine.Thing{Kind: engine.KindMount, Name: filepath.Join(astray, "theirs/bound")}))
	if err := RemoveDir(filepath.Join(ours, "theirs"), nil, kit); err == nil || !strings.Contains(err.Error(), "umount "+at) {
		t.Errorf("a user's link has led to a mount: %v", err)
	}
}

// ledger is one in memory.
type ledger struct{ left []engine.Thing }

func (l *ledger) Made(t engine.Thing) error { l.left = append(l.left, t); return nil }
func (l *ledger) Gone(t engine.Thing) error {
	l.left = slices.DeleteFunc(l.left, func(o engine.Thing) bool { return o == t })
	return nil
}
func (l *ledger) Left() []engine.Thing { return slices.Clone(l.left) }
