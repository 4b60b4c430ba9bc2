package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// A slice of a private daemon's containers is systemd's to end: removing its group alone
// leaves the unit active. Tried against systemctl's documented interface.
func TestSlicesAreStopped(t *testing.T) {
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	script := "#!/bin/sh\necho \"$@\" >>" + said + "\ncase $* in *unknown*) exit 5;; *stuck*) echo no >&2; exit 1;; esac\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755)) //nolint:gosec // a program
	t.Setenv("PATH", dir)
	n := &note{Run: "abcd1234"}
	for name, wrong := range map[string]bool{"plimsoll_abcd1234_docker.slice": false, "plimsoll_abcd1234_unknown.slice": false,
		"plimsoll_abcd1234_stuck.slice": true, "plimsoll-abcd1234-docker": false, "user_of_somebody.slice": true} {
		if err := n.removeCgroups(name); (err != nil) != wrong {
			t.Errorf("%s: %v", name, err)
		}
	}
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	if got := strings.Count(string(text), "stop -- plimsoll_abcd1234_"); got != 3 || strings.Count(string(text), "\n") != 3 {
		t.Errorf("systemctl was told:\n%s", text)
	}
}
