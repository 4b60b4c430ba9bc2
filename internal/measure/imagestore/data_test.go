//go:build linux

package imagestore

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// The database is one that SQLite itself finds in order, with every table and
// every row, and it has the size that its name says.
func TestDatabase(t *testing.T) {
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("sqlite3 is not installed: sizes and bytes alone are tried")
	}
	for size, want := range map[string]float64{"xs": 151.6e3, "sm": 536.6e3, "md": 2.6e6} {
		if testing.Short() && size == "md" {
			continue
		}
		db := tpcc(want)
		if off := math.Abs(float64(len(db))/want - 1); off > 0.03 { // a page of the smallest is 2.7 %
			t.Errorf("%s has %d bytes, want %.0f", size, len(db), want)
		}
		if sha256.Sum256(db) != sha256.Sum256(tpcc(want)) {
			t.Errorf("%s is another one the second time", size)
		}
		if tool == "" {
			continue
		}
		file := filepath.Join(t.TempDir(), "tpcc.db")
		require.NoError(t, os.WriteFile(file, db, 0o600))
		argv := []string{"-batch", file, "PRAGMA integrity_check", "SELECT 'sum ' || sum(s_quantity) || ' ' || min(length(s_data)) || ' ' || max(s_ytd > 0) FROM stock"}
		for _, table := range tpccTables {
			argv = append(argv, "SELECT '"+table.name+" ' || count(*) || ' ' || max(rowid) FROM "+table.name,
				"CREATE TABLE copy_"+table.name+" AS SELECT * FROM "+table.name)
		}
		out, err := exec.CommandContext(t.Context(), tool, argv...).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "ok\n") {
			t.Fatalf("%s: %v: %s", size, err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != 2+len(tpccTables) {
			t.Fatalf("%s: %s", size, out)
		}
		for i, table := range tpccTables {
			var name string
			var rows, last int
			if _, err := fmt.Sscanf(lines[2+i], "%s %d %d", &name, &rows, &last); err != nil || name != table.name || rows < 1 || rows != last {
				t.Errorf("%s: %q, want all rows of %s", size, lines[2+i], table.name)
			}
		}
	}
}

// Archive and directory hold the same files: one line of letters and digits each.
func TestSmallFiles(t *testing.T) {
	made, _ := dataOf("files", "100")
	layers, err := made()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	files := layers[0]
	archive, err := archiveOf(100)
	require.NoError(t, err)
	r, n := tar.NewReader(bytes.NewReader(archive)), 0
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		i, ok := files.find(dataFiles + "/" + h.Name)
		if !ok || !bytes.Equal(files[i].data, got) || len(got) != 4096 || bytes.IndexByte(got, '\n') != fileLine {
			t.Errorf("%s is another file in the archive, or no line of %d", h.Name, fileLine)
		}
		n++
	}
	if n != 100 || len(files) != 104 { // with /, /data, /data/files and their reader
		t.Errorf("%d files in the archive, %d entries in the tree", n, len(files))
	}
}

// However many layers there are, the files in them are the same, and each layer has its
// share of them.
func TestLayeredFiles(t *testing.T) {
	one := ""
	for _, n := range []string{"1", "7", "100"} {
		made, about := dataOf("layers", n)
		layers, err := made()
		if err != nil || fmt.Sprint(len(layers)) != n || !strings.Contains(about, " "+n+" layers") {
			t.Fatalf("%s: %d layers, %v: %s", n, len(layers), err, about)
		}
		for i, l := range layers {
			if files := len(l) - 3; files < layeredFiles/len(layers) || files > layeredFiles/len(layers)+1 { // with /, /data and /data/files
				t.Errorf("%s: layer %d has %d files", n, i, files)
			}
		}
		sum := contentOf(nil, layers...).digest()
		if one == "" {
			one = sum
		}
		if sum != one {
			t.Errorf("%s layers have other files than one", n)
		}
	}
	for _, size := range []string{"0", "101", "01", "-1", "x"} {
		if made, _ := dataOf("layers", size); made != nil {
			t.Errorf("an image with %s layers is made", size)
		}
	}
}

// dataNames lists the images with data over one image.
func dataNames(base string) []string {
	var out []string
	for _, kind := range []string{"files", "archive"} {
		for _, n := range dataCounts {
			out = append(out, fmt.Sprintf("%s%s-%d:%s", dataPrefix, kind, n, base))
		}
	}
	for _, s := range dataSizes {
		out = append(out, dataPrefix+"database-"+s+":"+base)
	}
	return out
}

func TestDataNames(t *testing.T) {
	for _, base := range dataBases {
		names := dataNames(base)
		if len(names) != 15 {
			t.Errorf("%d images over %s", len(names), base)
		}
		for _, n := range names {
			if d, err := Describe(n); err != nil || d.Name != n || !IsReference(n) {
				t.Errorf("%s: %+v, %v", n, d, err)
			}
		}
	}
	for _, base := range anyBases {
		for _, kind := range []string{"layers-100:", "files-10000:", "archive-10000:"} {
			if d, err := Describe(dataPrefix + kind + base); err != nil || d.Name == "" {
				t.Errorf("%s over %s: %+v, %v", kind, base, d, err)
			}
		}
	}
	for _, n := range []string{"plimsoll/layers-101:busybox", "plimsoll/files-11:busybox", "plimsoll/database-xs:payload", "plimsoll/files-1000", "plimsoll/files-0100:busybox", "plimsoll/database-tiny:toolbox",
		"plimsoll/other-10:busybox", "plimsoll/files-1000000:busybox"} {
		if _, err := Describe(n); err == nil || !strings.Contains(err.Error(), n) {
			t.Errorf("%s: %v", n, err)
		}
	}
}
