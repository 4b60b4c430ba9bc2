package engine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// TestPlaces: further places are taken from files that only root may write to.
func TestPlaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("makes files that belong to root, and to somebody else")
	}
	const text = "# by hand\ncontainerd /a.sock\nlxd /l.sock\ncontainerd /b.sock more\ncontainerd relative\n\ncontainerd\t/c.sock\n"
	dir := t.TempDir()
	file := func(name string, uid int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode))
		require.NoError(t, os.Chown(path, uid, 0))
		return path
	}
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(file("good", 0, 0o644), link))
	before := placesFiles
	t.Cleanup(func() { placesFiles = before })
	for want, files := range map[string][]string{
		"/a.sock /c.sock": {file("good", 0, 0o644)},
		"":                {filepath.Join(dir, "none"), file("everybody's", 0, 0o646), file("the group's", 0, 0o664), file("a user's", 65534, 0o644), link, dir},
	} {
		for _, f := range files {
			placesFiles = []string{f}
			var paths []string
			if want != "" {
				paths = []string{"/a.sock", "/c.sock"}
			}
			if got := Places("containerd"); !slices.Equal(got, paths) {
				t.Errorf("%s: %q, want %q", f, got, paths)
			}
		}
	}
}
