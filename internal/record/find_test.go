package record_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

func TestFind(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks = 1
	run := s.Write(t)
	folder := t.TempDir()
	for _, name := range []string{"b", "a"} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(run)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"empty", ".hidden"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	runs, others, err := record.Find([]string{run, folder})
	in := func(name string) string { return filepath.Join(folder, name) }
	if err != nil || !slices.Equal(runs, []string{run, in("a"), in("b")}) || !slices.Equal(others, []string{in("empty")}) {
		t.Errorf("%v, %v, %v", runs, others, err)
	}
	for _, dir := range []string{in("empty"), in("nothing"), in("notes.txt")} {
		if _, _, err := record.Find([]string{run, dir}); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
