package safepath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.Symlink("file", filepath.Join(dir, "link"))))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	for _, name := range []string{"file", "link"} {
		if text, err := ReadRegular(filepath.Join(dir, name), 4, "four bytes"); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		f, err := OpenIn(root, name)
		if err != nil {
			t.Errorf("%s in its root: %v", name, err)
			continue
		}
		f.Close()
	}
	if _, err := OpenRegular(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := OpenIn(root, "."); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory in its root: %v", err)
	}
	if _, err := OpenRegular(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

// FuzzName: what is taken for one component never leads out of its directory.
func FuzzName(f *testing.F) {
	for _, s := range []string{"", ".", "..", "a", "a/b", "../a", "a\x00", "...", ".a-b.new"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if plain(name) != nil {
			return
		}
		if filepath.Dir(filepath.Join("top", name)) != "top" || filepath.Base(filepath.Join("top", name)) != name {
			t.Errorf("%q leads elsewhere", name)
		}
	})
}
