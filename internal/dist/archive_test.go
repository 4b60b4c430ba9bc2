package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// unpacked gives the regular files of an archive by path, an executable one
// with a "*" behind it.
func unpacked(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	files := map[string]string{}
	put := func(path string, executable bool, r io.Reader) {
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		if executable {
			path += "*"
		}
		files[path] = string(content)
	}
	if strings.HasSuffix(file, ".zip") {
		zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range zr.File {
			if f.FileInfo().IsDir() {
				continue
			}
			r, err := f.Open()
			require.NoError(t, err)
			put(f.Name, f.Mode()&0o111 != 0, r)
			r.Close()
		}
		return files
	}
	gz, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	for tr := tar.NewReader(gz); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		if h.Typeflag == tar.TypeReg {
			put(h.Name, h.Mode&0o111 != 0, tr)
		}
	}
}

// An archive holds what the directory holds; when, and by whom it was written
// is not in it.
func TestArchive(t *testing.T) {
	fill := func(at time.Time) string {
		dir := filepath.Join(t.TempDir(), "plimsoll-1")
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "man"), 0o700))
		for name, mode := range map[string]os.FileMode{"plimsoll": 0o700, "man/a.1": 0o600} {
			path := filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(path, []byte(name), mode))
			require.NoError(t, os.Chtimes(path, at, at))
		}
		return dir
	}
	for _, kind := range []string{".tar.gz", ".zip"} {
		var made [2][]byte
		for i := range made {
			file := filepath.Join(t.TempDir(), "a"+kind)
			require.NoError(t, archive(file, fill(time.Unix(int64(i)*1e6, 0)), time.Unix(1700000000, 0)))
			files := unpacked(t, file)
			if len(files) != 2 || files["plimsoll-1/plimsoll*"] != "plimsoll" || files["plimsoll-1/man/a.1"] != "man/a.1" {
				t.Errorf("%s: %v", kind, files)
			}
			made[i], _ = os.ReadFile(file)
		}
		if !bytes.Equal(made[0], made[1]) {
			t.Errorf("%s: the time of a file changes the archive", kind)
		}
	}
	if err := archive(filepath.Join(t.TempDir(), "a.rar"), t.TempDir(), time.Time{}); err == nil {
		t.Error("a .rar is made")
	}
}
