package adapter

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// What a program is called proves nothing: what it says does.
func TestItself(t *testing.T) {
	for _, c := range []struct {
		says, level string
		ok          bool
	}{
		{"runc version 1.1.5+ds1\ncommit: x", "runc", true},
		{"crun version 1.8.1", "youki", false},
		{"crun version 1.8.1", "runc", false},
		{"runc version 1.1.5", "crun", false},
		{"youki version: 0.7.0", "youki", true},
		{"youki 0.7.0", "youki", true},
		{"runsc version release-20221212.0", "runsc", true},
		{"kata-runtime  : 3.2.0", "kata", true},
		{"kata-runtime  : 3.2.0", "kata-qemu", true},
		{"crun version 1.8.1", "kata", false},
		{"crunx version 1", "crun", false},
		{"runc version 1.1.5", engine.DefaultLevel, true},
		{"", "crun", true}, // it does not say
		{"\n\n", "crun", true},
	} {
		program, _ := ParseItself(c.says)
		err := Itself{Path: "/usr/bin/x", Program: program}.Wrong(c.level, "")
		var e *engine.Error
		if (err == nil) != c.ok || err != nil && (!errors.As(err, &e) || e.Class != record.WrongComponent) {
			t.Errorf("%q as %s: %v", c.says, c.level, err)
		}
	}
	err := Itself{Path: "/opt/youki", Program: "crun"}.Wrong("youki", `the docker daemon's "youki"`)
	if want := `asked for the runtime youki, and the docker daemon's "youki" is /opt/youki, which says that it is crun`; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAskItself(t *testing.T) {
	path := filepath.Join(t.TempDir(), "youki")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho crun version 1.8.1\n"), 0o755))
	id, err := AskItself(t.Context(), path)
	if err != nil || id != (Itself{path, "crun", "1.8.1"}) {
		t.Errorf("%+v %v", id, err)
	}
	if _, err := AskItself(t.Context(), path+"-not"); err == nil || !strings.Contains(err.Error(), "asking "+path+"-not what it is") {
		t.Errorf("%v", err)
	}
}

// A daemon's "runc" is the one on the daemon's PATH, whatever ours has under this name.
func TestIdentifyLooksWhereTheDaemonDoes(t *testing.T) {
	theirs, here := t.TempDir(), t.TempDir()
	for dir, version := range map[string]string{theirs: "1.3.6", here: "1.1.5"} {
		script := "#!/bin/sh\necho runc version " + version + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "runc"), []byte(script), 0o755)) //nolint:gosec // a program
	}
	t.Setenv("PATH", here+":"+os.Getenv("PATH"))
	daemon := exec.Command("sleep", "60")
	daemon.Env = []string{"PATH=/nowhere:" + theirs}
	require.NoError(t, daemon.Start())
	defer func() {
		_ = daemon.Process.Kill()
		_ = daemon.Wait() // it was killed
	}()
	// A program that has just been started may have no environment yet: execve(2) closes
	// its starter's pipe before it writes that down.
	for range 1000 {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", daemon.Process.Pid)); err == nil && len(text) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	for _, c := range []struct {
		pid  int
		path string
		want Itself
	}{
		{daemon.Process.Pid, "runc", Itself{Path: "runc", Program: "runc", Version: "1.3.6"}},
		{daemon.Process.Pid, filepath.Join(here, "runc"), Itself{Path: filepath.Join(here, "runc"), Program: "runc", Version: "1.1.5"}},
		{0, "runc", Itself{Path: "runc"}}, // of whom nothing is known: no version is better than a wrong one
		{0, filepath.Join(theirs, "runc"), Itself{Path: filepath.Join(theirs, "runc"), Program: "runc", Version: "1.3.6"}},
		{daemon.Process.Pid, "", Itself{}},
	} {
		if got := Identify(t.Context(), c.pid, c.path); got != c.want {
			t.Errorf("%s of process %d: %+v, want %+v", c.path, c.pid, got, c.want)
		}
	}
}
