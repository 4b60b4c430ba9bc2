package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// A named pipe in one run of a folder, under any name of a record's, is told
// for what it is, and holds up nobody: the others are shown.
func TestPipesAreNotWaitedFor(t *testing.T) {
	folder := t.TempDir()
	var pipes []string
	pipe := func(run, name string) {
		path := filepath.Join(folder, run, name)
		_ = os.Remove(path)
		require.NoError(t, syscall.Mkfifo(path, 0o644))
		pipes = append(pipes, path)
	}
	put(t, small(1), folder, "well")
	put(t, small(2), folder, "lock")
	pipe("lock", ".lock")
	put(t, small(3), folder, "output")
	pipe("output", filepath.Join(record.OutputDir, record.OutputName(0)))
	put(t, small(4), folder, "run")
	pipe("run", record.RunFile)
	put(t, small(5), folder, "trials")
	pipe("trials", record.TrialsFile)
	x := open(t, Options{Dirs: []string{folder}})
	x.client.Timeout = 5 * time.Second
	t.Cleanup(func() { // where they are waited for all the same, so that the test ends
		for _, p := range pipes {
			if f, err := os.OpenFile(p, os.O_RDWR, 0); err == nil {
				f.Close()
			}
		}
	})
	for name, want := range map[string]string{"well": done, "lock": broken, "output": done, "run": broken} {
		s := x.run(t, name)
		if s.Status != want || want == broken && !strings.Contains(s.Problem, "no") {
			t.Errorf("%s: %s, %q, want %s", name, s.Status, s.Problem, want)
		}
	}
	if code, _, _ := x.get(t, "/api/runs/"+x.run(t, "trials").ID); code == http.StatusOK {
		t.Error("trials that are a pipe were shown")
	}
}
