package sarus

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/enginetest"
)

// TestContract puts the adapter through everything on a program that answers
// as Sarus' user guide says: Sarus itself is in no package registry. Where
// Sarus is installed it is taken; when that has passed, Info says verified.
func TestContract(t *testing.T) {
	kit := enginetest.Kit(t)
	opts := enginetest.Options{Kit: kit, Own: []string{"mnt"}, Shared: []string{"net"}}
	if _, err := exec.LookPath(program); err != nil {
		if !kit.Root {
			t.Skip("Sarus is not installed, and its stand-in needs root for chroot")
		}
		double := install(t)
		look := kit.LookPath
		kit.LookPath = func(name string) (string, error) {
			if name == program {
				return double, nil
			}
			return look(name)
		}
		kit.User, kit.NoUser = nil, "the stand-in needs root"
	}
	enginetest.Conformance(t, New(), map[string]string{engine.Storage: "squashfs"}, opts)
}

// install writes the stand-in with a repository of its own.
func install(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/sarus")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, program)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "@REPO@", filepath.Join(dir, "repository"))), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
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

// What nobody has tried on the real thing says so.
func TestUnverified(t *testing.T) {
	if !New().Info().Unverified {
		t.Error("the adapter was run against a stand-in only")
	}
}
