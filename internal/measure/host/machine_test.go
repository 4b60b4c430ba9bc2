//go:build linux

package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// stored unpacks a machine from testdata.
func stored(t testing.TB, name string) Machine {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	m := Machine{Root: t.TempDir()}
	if err := txtar.Write(a, m.Root); err != nil {
		t.Fatal(err)
	}
	return m
}

// set writes a file of a stored machine.
func (m Machine) set(t testing.TB, p, text string) {
	t.Helper()
	if m.Root == "" {
		t.Fatal("the real machine is not to be written to")
	}
	if err := os.MkdirAll(filepath.Dir(m.path(p)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.path(p), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
