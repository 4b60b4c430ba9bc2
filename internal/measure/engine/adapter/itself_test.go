package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
