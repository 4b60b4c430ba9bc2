package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), ledgerFile)
	l, err := OpenLedger(path)
	require.NoError(t, err)
	a, b := engine.Thing{Kind: engine.KindMount, Name: "/a"}, engine.Thing{Kind: engine.KindCgroup, Name: "/b"}
	// The same name in another place is another thing.
	here := engine.Thing{Kind: engine.KindImage, Name: "i", Engine: "cri", At: "/run/x.sock"}
	there := here
	there.At = "/run/y.sock"
	for _, f := range []func() error{
		func() error { return l.Made(a) }, func() error { return l.Made(b) }, func() error { return l.Made(a) },
		func() error { return l.Made(here) }, func() error { return l.Made(there) },
		func() error { return l.Gone(a) }, func() error { return l.Gone(here) }, func() error { return l.Gone(here) },
	} {
		require.NoError(t, f())
	}
	want := []engine.Thing{b, there}
	if got := l.Left(); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	require.NoError(t, l.Close())
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	if _, err := torn.WriteString(`{"op":"made","ki`); err != nil {
		t.Fatal(err)
	}
	torn.Close()
	// The next process goes on behind the torn line.
	l, err = OpenLedger(path)
	require.NoError(t, err)
	if got := l.Left(); !slices.Equal(got, want) {
		t.Errorf("read again %v, want %v", got, want)
	}
	require.NoError(t, l.Made(a))
	l.Close()
	l, err = OpenLedger(path)
	require.NoError(t, err)
	defer l.Close()
	if got := l.Left(); !slices.Equal(got, append(want, a)) {
		t.Errorf("behind a torn line %v, want %v", got, append(want, a))
	}
}

// TestLedgerBehindAFullDisk: what a failed write has left does not spoil the next entry.
func TestLedgerBehindAFullDisk(t *testing.T) {
	l, err := OpenLedger(filepath.Join(t.TempDir(), ledgerFile))
	require.NoError(t, err)
	defer l.Close()
	_, err = l.file.WriteString(`{"op":"made","ki`)
	require.NoError(t, err)
	thing := engine.Thing{Kind: engine.KindMount, Name: "/a"}
	require.NoError(t, l.Made(thing))
	again, err := OpenLedger(l.file.Name())
	require.NoError(t, err)
	defer again.Close()
	if left := again.Left(); !slices.Equal(left, []engine.Thing{thing}) {
		t.Errorf("left are %v", left)
	}
}

// What lies where the ledger is to be is not followed and not waited for.
func TestLedgerIsAFile(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(target, link))
	if _, err := OpenLedger(link); err == nil {
		t.Error("a link was followed")
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a file was made behind a link")
	}
	if _, err := OpenLedger(dir); err == nil || !strings.Contains(err.Error(), "ledger") {
		t.Errorf("a directory: %v", err)
	}
}
