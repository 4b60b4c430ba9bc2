package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

const ours = "abcdefgh"

// beyond gives a host whose shell is the one here, in a home of its own, behind a login
// that does something first: what ssh would carry there is run by it.
func beyond(t *testing.T, login string) (h *Host, home string) {
	t.Helper()
	dir := t.TempDir()
	home = filepath.Join(dir, "home")
	require.NoError(t, os.Mkdir(home, 0o700))
	ssh := filepath.Join(dir, "ssh")
	text := fmt.Sprintf("#!/bin/sh\nexport HOME='%s'; unset XDG_CACHE_HOME\nfor command; do :; done\n%s\nexec /bin/sh -c \"$command\"\n", home, login)
	require.NoError(t, os.WriteFile(ssh, []byte(text), 0o700))
	return (&SSH{Path: ssh, Dir: dir}).Host(Target{Host: "there", Name: "there"}, 0, ours), home
}

// bring probes a host and copies a program there.
func bring(t *testing.T, h *Host, text string) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	sum := sha256.Sum256([]byte(text))
	found, err := h.Probe(t.Context())
	if err != nil {
		return err
	}
	return h.Bring(t.Context(), found, &Program{Path: path, Size: int64(len(text)), Digest: hex.EncodeToString(sum[:])})
}

// What was brought and never run is taken away, with the folders above it; where a run
// has been, or which another run's ledger is in, stays. Of the run, that is an error:
// who noted nothing of it would write over its record.
func TestDiscard(t *testing.T) {
	for _, c := range []struct {
		what, file, text string
		stays            bool
	}{
		{"a program", "", "", false},
		{"a run", processName, "", true},
		{"another run's ledger", ledgerName, "hgfedcba\n", true},
	} {
		h, home := beyond(t, "")
		require.NoError(t, bring(t, h, "#!/bin/sh\n"))
		dir := filepath.Join(home, ".cache/plimsoll/hosts", ours)
		if c.file != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600))
		}
		if err := h.Discard(t.Context()); (err != nil) != (c.what == "a run") {
			t.Errorf("%s: discarding it ends with %v", c.what, err)
		}
		_, err := os.Lstat(dir)
		_, above := os.Lstat(filepath.Join(home, ".cache/plimsoll"))
		if (err == nil) != c.stays || (above == nil) != c.stays {
			t.Errorf("%s: %v, %v", c.what, err, above)
		}
	}
}

// What is in the way on a host is said in words that tell what it is.
func TestUnfit(t *testing.T) {
	for _, c := range []struct{ what, login, says, advice string }{
		{"no login", "echo This account is not available.; exit 1", "its shell answers something else than it was asked: This account is not available.", ""},
		{"no home", `rmdir "$HOME"; touch "$HOME"`, "no folder for the run can be made there: ", "XDG_CACHE_HOME"},
		{"another program", "command=$(echo \"$command\" | sed 's/cat >/echo x >/')", "the program has not arrived as it was sent (its SHA-256 differs)", ""},
	} {
		h, _ := beyond(t, c.login)
		var e *Error
		if err := bring(t, h, "#!/bin/sh\n"); !errors.As(err, &e) || !strings.HasPrefix(e.What, c.says) || !strings.Contains(e.Advice, c.advice) || e.Lost {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// What was brought there says its version, whatever the login prints; or that it can't be
// started.
func TestVersion(t *testing.T) {
	h, _ := beyond(t, "echo Welcome")
	require.NoError(t, bring(t, h, "#!/bin/sh\n[ $1 = version ] && echo plimsoll 1.2.0\n"))
	if said, err := h.Version(t.Context()); err != nil || said != "plimsoll 1.2.0" {
		t.Errorf("%q, %v", said, err)
	}
	h, _ = beyond(t, "")
	require.NoError(t, bring(t, h, "\x7fELF is what it begins with\n"))
	var e *Error
	if _, err := h.Version(t.Context()); !errors.As(err, &e) || !strings.HasPrefix(e.What, "starting the program failed there") {
		t.Errorf("%v", err)
	}
}

// A login that greets is in the way of nothing.
func TestGreeting(t *testing.T) {
	for _, login := range []string{"echo Welcome to this host", "printf Welcome"} {
		h, _ := beyond(t, login)
		require.NoError(t, bring(t, h, "#!/bin/sh\necho '{\"over\":{\"exit\":6}}'\n"))
		record, err := os.OpenRoot(t.TempDir())
		require.NoError(t, err)
		defer record.Close()
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		require.NoError(t, err)
		defer log.Close()
		if over, err := h.Follow(t.Context(), record, log); err != nil || over == nil || over.Exit != 6 {
			t.Errorf("%s: %+v, %v", login, over, err)
		}
	}
}

// A home from which no program may be run, as one that is mounted noexec.
func TestNotExecutable(t *testing.T) {
	h, home := beyond(t, "")
	require.NoError(t, bring(t, h, "#!/bin/sh\n"))
	require.NoError(t, os.Chmod(filepath.Join(home, ".cache/plimsoll/hosts", ours, programName), 0o600))
	var e *Error
	if err := h.Begin(t.Context(), Request{}, nil, ""); !errors.As(err, &e) || !strings.Contains(e.What, "may not be executed") || !strings.Contains(e.Advice, "noexec") {
		t.Errorf("%v", err)
	}
}
