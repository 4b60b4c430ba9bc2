package record_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

func TestFind(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks = 1
	run := s.Write(t)
	folder := t.TempDir()
	for _, name := range []string{"b", "a"} {
		require.NoError(t, os.CopyFS(filepath.Join(folder, name), os.DirFS(run)))
	}
	for _, name := range []string{"empty", ".hidden"} {
		require.NoError(t, os.Mkdir(filepath.Join(folder, name), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), nil, 0o644))
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
