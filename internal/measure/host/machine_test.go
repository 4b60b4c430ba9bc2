//go:build linux

package host

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"plimsoll/internal/common/require"
)

// stored unpacks a machine from testdata.
func stored(t testing.TB, name string) Machine {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	require.NoError(t, err)
	m := Machine{Root: t.TempDir()}
	require.NoError(t, txtar.Write(a, m.Root))
	return m
}

// set writes a file of a stored machine.
func (m Machine) set(t testing.TB, p, text string) {
	t.Helper()
	if m.Root == "" {
		t.Fatal("the real machine is not to be written to")
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(m.path(p)), 0o755))
	require.NoError(t, os.WriteFile(m.path(p), []byte(text), 0o644))
}
