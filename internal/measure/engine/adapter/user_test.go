package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// stranger is the ordinary user of these tests.
const stranger = 64996

func ofRoot(t *testing.T) (kit *engine.Kit, user *engine.User, ours, theirs string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root works in other users' directories")
	}
	top := t.TempDir()
	for dir := top; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
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
