package run

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/tune"
)

// TestForeignNote: what a note says is written into the kernel, so one that somebody
// else may have laid is not believed, and stays for whoever looks.
func TestForeignNote(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root writes into the kernel, and can make somebody else's file")
	}
	const nobody = 65534
	for name, lay := range map[string]func(path string) error{
		"another user's": func(path string) error { return os.Chown(path, nobody, nobody) },
		"one with a second name": func(path string) error {
			return os.Link(path, path+".more")
		},
		"one that others may write to": func(path string) error { return os.Chmod(path, 0o666) },
		"one in a directory that others may write to": func(path string) error {
			return os.Chmod(strings.TrimSuffix(path, "/"+noteFile), 0o777)
		},
	} {
		s := State{t.TempDir()}
		// A change that nobody minds: it says what is so.
		require.NoError(t, os.WriteFile(s.note(), []byte(`[{"path":"/proc/sys/vm/swappiness","old":"x","new":"y"}]`), 0o600))
		require.NoError(t, lay(s.note()))
		if err := s.RestoreKernel(); err == nil {
			t.Errorf("%s is believed", name)
		}
		if _, err := s.noteKernel(nil); err == nil {
			t.Errorf("%s is written over", name)
		}
		if _, err := os.Lstat(s.note()); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}

// TestNoteElsewhere: a kernel that was booted since has forgotten what was set, and
// that of another machine is none of ours.
func TestNoteElsewhere(t *testing.T) {
	now := here()
	if now.Boot == "" || now.Host == "" || now.PIDs == "" {
		t.Fatalf("we are at %+v", now)
	}
	// It could not be put back, so whoever tries says so.
	changes := []tune.Change{{Path: "/no/setting", Old: "0", New: "1"}}
	for _, c := range []struct {
		name    string
		at      origin
		fails   bool
		remains bool
	}{
		{"ours", now, true, true},
		{"an earlier version's, which does not say where", origin{}, true, true},
		{"of this machine under another name", origin{Boot: now.Boot, Host: "renamed"}, true, true},
		{"of another boot", origin{Boot: "x", Host: now.Host}, false, false},
		{"of another machine", origin{Boot: "x", Host: "node1"}, false, true},
	} {
		s := State{t.TempDir()}
		b, err := json.Marshal(kernelNote{origin: c.at, Changes: changes})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(s.note(), b, 0o600))
		if err := s.RestoreKernel(); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, err := os.Lstat(s.note()); errors.Is(err, fs.ErrNotExist) == c.remains {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s := State{t.TempDir()}
	require.NoError(t, os.WriteFile(s.note(), []byte(`{"boot":"x","host":"node1","changes":[]}`), 0o600))
	if _, err := s.noteKernel(nil); err == nil || !strings.Contains(err.Error(), "node1") {
		t.Errorf("another machine's note is written over: %v", err)
	}
}
