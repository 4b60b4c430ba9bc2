//go:build linux

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/fleet"
)

// A new run on hosts takes no folder as its record that holds something, and no file as
// its log: it says so before anything is written, or any host is asked.
func TestHostsFresh(t *testing.T) {
	for _, c := range []struct{ what, file, named string }{
		{"nothing", "", ""},
		{"an empty folder", "one/", ""},
		{"the record of another host", "two/run.json", ""},
		{"a record", "one/run.json", "one"},
		{"somebody's files", "one/key", "one"},
		{"a file", "one", "one"},
		{"a log", "one.log", "one.log"},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		path := filepath.Join(dir, c.file)
		if strings.HasSuffix(c.file, "/") {
			require.NoError(t, os.MkdirAll(path, 0o755))
		} else if c.file != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		}
		want := ""
		if c.named != "" {
			want = filepath.Join(dir, c.named)
		}
		if got := notFresh(filepath.Join(dir, "one")); got != want {
			t.Errorf("%s: %q is in the way, want %q", c.what, got, want)
		}
		if want == "" {
			continue
		}
		var out, errs bytes.Buffer
		status := Main(World{Args: []string{"run", "quick", "--on", "ssh://one", "-o", dir}, Stdout: &out, Stderr: &errs, Width: func() int { return 0 },
			LookPath: func(string) (string, error) { return "/bin/false", nil },
			Getenv:   func(name string) string { return map[string]string{"PLIMSOLL_STATE": dir + "-state"}[name] }})
		if said := strings.Join(strings.Fields(errs.String()), " "); status != int(Usage) || !strings.Contains(said, c.named+" is there already, where the record of one and its log would be written") {
			t.Errorf("%s: status %d, %s", c.what, status, said)
		}
		if fleet.Kept(dir) {
			t.Errorf("%s: the run is in an account", c.what)
		}
	}
}

// A run that may have begun, though no answer came, stays in the account: what is noted
// as gone would be measured anew, over its trials.
func TestHostsBegunKept(t *testing.T) {
	for _, begun := range []bool{true, false} {
		dir := t.TempDir()
		const id = "abcdefgh"
		there := filepath.Join(dir, "home/.cache/plimsoll/hosts", id)
		require.NoError(t, os.MkdirAll(there, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(there, "ledger"), []byte(id+"\n"), 0o600))
		if begun {
			require.NoError(t, os.WriteFile(filepath.Join(there, "process"), nil, 0o600))
		}
		// Its shell is the one here, in a home of its own.
		ssh := filepath.Join(dir, "ssh")
		text := "#!/bin/sh\nexport HOME='" + dir + "/home'; unset XDG_CACHE_HOME\nfor command; do :; done\nexec /bin/sh -c \"$command\"\n"
		require.NoError(t, os.WriteFile(ssh, []byte(text), 0o700))
		ledger, err := fleet.OpenLedger(filepath.Join(dir, "out"))
		require.NoError(t, err)
		ledger.Hosts = []fleet.HostAccount{{Target: fleet.Target{Name: "one", Host: "one"}, ID: id, Brought: true, Begun: true}}
		r := &hostsRun{ssh: &fleet.SSH{Path: ssh, Dir: dir}, ledger: ledger, progress: newHostsProgress(World{Stderr: &bytes.Buffer{}, Getenv: os.Getenv}, "none", []string{"one"})}
		h := r.host(0)
		require.NoError(t, h.discard())
		h.letGo()
		require.NoError(t, ledger.Close())
		if a := h.account(); a.Begun != begun || a.Brought != begun {
			t.Errorf("begun there %v: the account is %+v", begun, a)
		}
		if _, err := os.Lstat(there); (err == nil) != begun {
			t.Errorf("begun there %v: its folder: %v", begun, err)
		}
	}
}
