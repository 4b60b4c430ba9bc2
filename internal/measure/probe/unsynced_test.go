package probe

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestUnsynced: under the filter what waits for the disk is said to be done, and nothing
// else comes to anything else: no other call, and none of another architecture, whose
// numbers mean other calls.
func TestUnsynced(t *testing.T) {
	needRoot(t)
	l, _ := startLauncher(t, Options{})
	program := compiled(t, "testdata/unsynced.c")
	says := func(unsynced bool) map[string]string {
		res := run(t, l, Job{Commands: []Command{{Argv: []string{program}, Unsynced: unsynced}}}).Commands[0]
		if res.Status != 0 || res.Errno != 0 {
			t.Fatalf("%+v: %s", res, res.Stderr)
		}
		said := map[string]string{}
		for line := range strings.Lines(string(res.Stdout)) {
			name, r, _ := strings.Cut(strings.TrimSpace(line), " ")
			said[name] = r
		}
		return said
	}
	plain, unsynced := says(false), says(true)
	for name, r := range plain {
		want := r
		switch name {
		case "fsync", "fdatasync", "sync_file_range", "syncfs", "msync":
			if want = "0"; r == want {
				t.Errorf("%s comes to 0 without a filter: it can't be told", name)
			}
		}
		if got := unsynced[name]; got != want {
			t.Errorf("%s comes to %s under the filter, want %s", name, got, want)
		}
	}
	if plain["fsync"] != fmt.Sprint(-int(unix.EBADF)) || plain["read"] == "" || len(plain) < 8 {
		t.Errorf("without a filter: %v", plain)
	}
	if plain["i386-nanosleep"] == "" {
		t.Log("calls of 32 bits were not tried: this machine has none")
	}
}

// compiled is a C program of the tests.
func compiled(t *testing.T, source string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler on this machine")
	}
	program := t.TempDir() + "/program"
	if out, err := exec.Command(cc, "-O1", "-Wall", "-Wextra", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	require.Reachable(t, program)
	return program
}

// TestUnsyncedReports: what a payload says of itself tells whether it is under the filter,
// as whatever user it runs.
func TestUnsyncedReports(t *testing.T) {
	needRoot(t)
	l, path := startLauncher(t, Options{})
	for _, c := range []Command{{}, {Unsynced: true}, {Unsynced: true, SetUser: true, UID: 1234, GID: 2345}} {
		c.Argv = PayloadArgs{Word: "w", Report: true}.Argv(path)
		res := run(t, l, Job{Commands: []Command{c}}).Commands[0]
		p, err := ParsePayload(res.Stdout, "w")
		if err != nil {
			t.Fatalf("%v: %+v", err, res)
		}
		want := map[bool]string{false: fmt.Sprint(-int(unix.EBADF)), true: "0"}[c.Unsynced]
		if p.Report["fsync"] != want || p.Report["no_new_privs"] != "0" {
			t.Errorf("unsynced %v: fsync %q, no_new_privs %q", c.Unsynced, p.Report["fsync"], p.Report["no_new_privs"])
		}
	}
}

// TestUnsyncedVerb: the filter around a program that no launcher starts, which only root
// can have.
func TestUnsyncedVerb(t *testing.T) {
	needRoot(t)
	path := probePath(t)
	argv := Unsynced(path, PayloadArgs{Word: "w", Report: true}.Argv(path))
	out, err := exec.Command(argv[0], argv[1:]...).Output()
	require.NoError(t, err)
	if p, err := ParsePayload(out, "w"); err != nil || p.Report["fsync"] != "0" {
		t.Errorf("%v, %q", err, out)
	}
	for name, c := range map[string]struct {
		argv []string
		uid  uint32
		want int
	}{
		"no program":       {[]string{path, unsyncedVerb, "--"}, 0, 64},
		"not there":        {Unsynced(path, []string{"/not/there"}), 0, 127},
		"an ordinary user": {argv, 1234, 71},
	} {
		cmd := exec.Command(c.argv[0], c.argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
		var exit *exec.ExitError
		if out, err := cmd.CombinedOutput(); !errors.As(err, &exit) || exit.ExitCode() != c.want {
			t.Errorf("%s: %v, want status %d: %s", name, err, c.want, out)
		}
	}
}
