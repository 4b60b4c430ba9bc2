package archive

import (
	"archive/tar"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	w := tar.NewWriter(f)
	for name, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	require.NoError(t, w.Close())
	return path
}

func TestRead(t *testing.T) {
	img, err := Read(write(t, map[string]string{
		"manifest.json": `[{"Config":"c.json","RepoTags":["a:b"],"Layers":["l.tar"]}]`,
		"c.json":        `{"rootfs":{"type":"layers","diff_ids":["sha256:aa","sha256:bb"]}}`,
	}))
	require.NoError(t, err)
	if img.Config != "c.json" || !slices.Equal(img.Layers, []string{"sha256:aa", "sha256:bb"}) {
		t.Errorf("got %+v", img)
	}
}

func TestReadRefuses(t *testing.T) {
	for want, files := range map[string]map[string]string{
		`there is no "manifest.json"`: {"x": "y"},
		"names 2 images":              {"manifest.json": `[{"Config":"a"},{"Config":"b"}]`},
		`there is no "c.json"`:        {"manifest.json": `[{"Config":"c.json"}]`},
		"names no layers":             {"manifest.json": `[{"Config":"c.json"}]`, "c.json": `{}`},
		"c.json: ":                    {"manifest.json": `[{"Config":"c.json"}]`, "c.json": `{"rootfs":`},
	} {
		if _, err := Read(write(t, files)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing archive was read")
	}
}
