package apptainer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Each start converts into a directory of its own, with the program's cache
// off, and nothing of it stays.
func TestScratch(t *testing.T) {
	e := &environment{Base: &clirun.Base{Kit: &engine.Kit{}}, program: installed{name: "singularity"}, storage: byArchive, home: t.TempDir()}
	words, done, err := e.scratch("one")
	require.NoError(t, err)
	dir := filepath.Join(e.home, "scratch-one")
	if want := []string{"SINGULARITY_TMPDIR=" + dir, "SINGULARITY_DISABLE_CACHE=true"}; !slices.Equal(words, want) {
		t.Errorf("the environment has %q, want %q", words, want)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sbuild-tmp-cache-1"), []byte("SIF"), 0o600))
	require.NoError(t, done())
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there (%v)", dir, err)
	}

	e.storage = "sif"
	if words, done, err = e.scratch("two"); err != nil || words != nil || done() != nil {
		t.Errorf("an image file is converted: %q, %v", words, err)
	}
	if source(byArchive, "/a.tar") != "docker-archive:/a.tar" || source("sif", "/a.sif") != "/a.sif" {
		t.Error("an image has another name")
	}
}

// A conversion that fails says so in the program's own words.
func TestFailedConversion(t *testing.T) {
	status := 255 << 8
	e := &environment{Base: &clirun.Base{}, program: installed{name: "apptainer"}, storage: byArchive}
	p := e.finish(clirun.Attached(engine.Task{}, probe.Command{}))
	res := p.Result(&probe.JobResult{Commands: []probe.CommandResult{{Spawn: 1, Exit: 2, Status: status,
		Stderr: []byte("INFO:    Starting build...\nFATAL:   Unable to handle docker-archive:/a.tar uri: while building SIF from layers: conveyor failed to get: write /b: no such layer\n")}}})
	if f := res.Failure; f == nil || f.Class != record.EngineError || !strings.Contains(f.Text, "conveyor failed to get") {
		t.Errorf("failure %+v, want one of class %s with the program's words", res.Failure, record.EngineError)
	}
}
