package sarus

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// TestContract puts the adapter through everything on a program that answers
// as Sarus' user guide says: Sarus itself is in no package registry. Where
// Sarus is installed it is taken.
func TestContract(t *testing.T) {
	e, kit := installed(t)
	opts := enginetest.Options{Kit: kit, Own: []string{"mnt"}, Shared: []string{"net"}, Removes: true}
	enginetest.Conformance(t, e, map[string]string{engine.Storage: "squashfs"}, opts)
	bearing, err := e.Bearing(t.Context(), kit, kit.RunID)
	if err != nil || len(bearing) > 0 {
		t.Errorf("%v; Sarus still has %v", err, bearing)
	}
}

// installed gives Sarus, or its stand-in with a repository and containers of its
// own.
func installed(t *testing.T) (*Engine, *engine.Kit) {
	t.Helper()
	kit, e := enginetest.Kit(t), New()
	if _, err := exec.LookPath(program); err == nil {
		return e, kit
	}
	if !kit.Root {
		t.Skip("Sarus is not installed, and its stand-in needs root for chroot")
	}
	dir := t.TempDir()
	e.states = filepath.Join(dir, "states")
	double := strings.NewReplacer("@REPO@", filepath.Join(dir, "repository"), "@STATES@", e.states)
	for _, name := range []string{program, "runc"} {
		text, err := os.ReadFile("testdata/" + name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(double.Replace(string(text))), 0o755))
	}
	look := kit.LookPath
	kit.LookPath = func(name string) (string, error) {
		if name == program || name == "runc" {
			return filepath.Join(dir, name), nil
		}
		return look(name)
	}
	kit.User, kit.NoUser = nil, "the stand-in needs root"
	return e, kit
}

// Each build is the program that is started, and has an image of its own: whether it looks
// into the same repository as another one is told by its configuration alone.
func TestBuilds(t *testing.T) {
	e, kit := installed(t)
	first, err := kit.LookPath(program)
	require.NoError(t, err)
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	second := filepath.Join(t.TempDir(), program)
	require.NoError(t, os.WriteFile(second, text, 0o755))
	var refs []string
	var open []engine.Environment
	for level, path := range map[string]string{"old": first, "new": second} {
		env, err := e.Open(t.Context(), kit.With([]record.Build{{Program: program, Level: level, Path: path}}), engine.Spec{ID: "sarus/" + level})
		require.NoError(t, err)
		s := env.(*environment)
		if s.s.path != path || !strings.HasSuffix(s.ref, "-"+level+":"+kit.RunID) {
			t.Errorf("%s starts %s, with %s", level, s.s.path, s.ref)
		}
		refs, open = append(refs, s.ref), append(open, env)
	}
	require.NoError(t, open[0].Close(t.Context()))
	left, err := open[1].(*environment).s.references(t.Context(), kit)
	if err != nil || slices.Contains(left, refs[0]) || !slices.Contains(left, refs[1]) {
		t.Errorf("%v; after the first has ended there are %v of %v", err, left, refs)
	}
	require.NoError(t, open[1].Close(t.Context()))
}

// The table is the user guide's.
func TestParseImages(t *testing.T) {
	const table = `REPOSITORY               TAG          IMAGE ID       CREATED               SIZE         SERVER
load/library/my_debian   latest       2fe79f06fa6d   2018-01-31T15:08:56   47.04MB      load
localhost:5000/library/alpine   latest       d539cd357acb   2022-03-15T17:24:08   2.61MB       localhost:5000
`
	want := []string{"load/library/my_debian:latest", "localhost:5000/library/alpine:latest"}
	if got := parseImages(table); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := parseImages("REPOSITORY   TAG   IMAGE ID   CREATED   SIZE   SERVER\n"); len(got) != 0 {
		t.Errorf("an empty repository has %q", got)
	}
}

// Loading may take longer the larger the archive is, and its stages are told.
func TestLoading(t *testing.T) {
	if small, large := loadLimit(30<<10), loadLimit(360<<20); small != commandLimit || large < 10*commandLimit {
		t.Errorf("30 kB may take %v, 360 MiB %v", small, large)
	}
	var told []string
	w := &stages{tell: func(s string) { told = append(told, s) }}
	for _, piece := range []string{"Copying blob sha256:1\n> unpack", "ing OCI image\n", "> making squashfs image: x\nx"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if want := []string{"unpacking OCI image", "making squashfs image: x"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
