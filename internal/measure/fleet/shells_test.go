package fleet

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Whatever shell the user has there, it hands our scripts on as they are.
func TestShells(t *testing.T) {
	for _, shell := range []string{"dash", "bash", "busybox sh", "zsh", "ksh", "mksh", "csh", "tcsh", "fish"} {
		t.Run(shell, func(t *testing.T) {
			name, _, _ := strings.Cut(shell, " ")
			if _, err := exec.LookPath(name); err != nil {
				t.Skip(name + " is not installed")
			}
			h, home := beyond(t, "exec "+shell+` -c "$command"`)
			// Of the far side, the verb is told, and the run's folder.
			require.NoError(t, bring(t, h, "#!/bin/sh\necho \"$2 ${3##*/}\" >>\"$HOME/asked\"\ncase $2 in send) echo '{\"over\":{\"exit\":6}}';; clean) echo removed \"${3##*/}\";; take) cat >/dev/null;; esac\n"))
			require.NoError(t, h.Begin(t.Context(), Request{}, map[string][]byte{"a.yaml": []byte("x\n")}, ""))
			record, err := os.OpenRoot(t.TempDir())
			require.NoError(t, err)
			defer record.Close()
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			require.NoError(t, err)
			defer log.Close()
			if over, err := h.Follow(t.Context(), record, log); err != nil || over == nil || over.Exit != 6 {
				t.Errorf("followed: %+v, %v", over, err)
			}
			require.NoError(t, errors.Join(h.Stop(t.Context()), h.Fetched(t.Context())))
			if lines, err := h.Clean(t.Context(), true); err != nil || !slices.Equal(lines, []string{"removed " + ours}) {
				t.Errorf("cleaned: %q, %v", lines, err)
			}
			require.NoError(t, h.Discard(t.Context()))
			asked, err := os.ReadFile(filepath.Join(home, "asked"))
			require.NoError(t, err)
			verbs := strings.Split(strings.TrimSpace(string(asked)), "\n")
			slices.Sort(verbs) // what runs is in the background
			if want := []string{"await " + ours, "clean " + ours, "fetched " + ours, "run " + ours, "send " + ours, "stop " + ours, "take " + ours}; !slices.Equal(verbs, want) {
				t.Errorf("it was asked %q, want %q", verbs, want)
			}
			if _, err := os.Lstat(filepath.Join(home, ".cache/plimsoll")); err == nil {
				t.Error("a folder of ours is left")
			}
		})
	}
}

// Of what clean prints nothing is a login's, and it removes no folder in which a run may
// have been, whether or not its program can be executed any more.
func TestClean(t *testing.T) {
	h, home := beyond(t, "echo Welcome to this host")
	if lines, err := h.Clean(t.Context(), false); err != nil || len(lines) > 0 {
		t.Errorf("where nothing is: %q, %v", lines, err)
	}
	require.NoError(t, bring(t, h, "#!/bin/sh\n"))
	dir := filepath.Join(home, ".cache/plimsoll/hosts", ours)
	require.NoError(t, os.Chmod(filepath.Join(dir, programName), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, processName), nil, 0o600))
	if lines, err := h.Clean(t.Context(), true); err == nil || len(lines) > 0 {
		t.Errorf("a program that can't be executed: %q, %v", lines, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, programName)); err != nil {
		t.Fatalf("the run's folder was removed: %v", err)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, processName)))
	if lines, err := h.Clean(t.Context(), false); err != nil || !slices.Equal(lines, []string{"removed " + dir}) {
		t.Errorf("a copy that was cut off: %q, %v", lines, err)
	}
}

// A cache directory that is no absolute path counts as none, as the specification of it has it.
func TestRelativeCache(t *testing.T) {
	for cache, want := range map[string]string{"cache": ".cache", "$HOME/other": "other"} {
		h, home := beyond(t, `export XDG_CACHE_HOME="`+cache+`"`)
		found, err := h.Probe(t.Context())
		require.NoError(t, err)
		if want := filepath.Join(home, want, "plimsoll/hosts"); found.Base != want {
			t.Errorf("%s: %s, want %s", cache, found.Base, want)
		}
	}
}

// What sudo 1.9 and sudo-rs say with -n, and env where there is none, in English.
func TestNoSudo(t *testing.T) {
	h := &Host{Target: Target{Name: "there", Become: true}}
	for said, what := range map[string]string{
		"sh: 1: exec: sudo: not found":                                                      "there is no sudo",
		"env: 'sudo': No such file or directory":                                            "there is no sudo",
		"env: can't execute 'sudo': No such file or directory":                              "there is no sudo",
		"sudo: a password is required":                                                      "asks for a password",
		"sudo: sorry, you must have a tty to run sudo":                                      "asks for a password",
		"sudo: interactive authentication is required":                                      "asks for a password",
		"plain is not in the sudoers file.":                                                 "may not use sudo",
		"Sorry, user plain may not run sudo on one.":                                        "may not use sudo",
		"Sorry, user plain is not allowed to execute '/usr/bin/sh -c true' as root on one.": "may not use sudo",
		"sudo: I'm sorry plain. I'm afraid I can't do that":                                 "may not use sudo",
		"mkdir: cannot create directory '/root/.cache': Read-only file system":              "",
	} {
		err := h.noSudo(said)
		if (err == nil) != (what == "") || err != nil && !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v, want %q in it", said, err, what)
		}
	}
}
