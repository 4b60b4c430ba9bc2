package build

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// A daemon that runs already is known by the program of whoever listens: here the test's
// own process, which says that it is a stayer.
func TestBindSocket(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	known := []engine.Program{{Name: "other", Joins: true, Stays: true}, {Name: "runc"}, {Name: "stayer", Joins: true, Stays: true, Variables: true, Files: []string{"stayer.json"}}}
	bind := func(texts ...string) (string, error) {
		var asked []Asked
		for _, text := range texts {
			a, err := Parse(text, "--build", dir)
			if err != nil {
				return "", err
			}
			asked = append(asked, a)
		}
		list, err := Bind(t.Context(), asked, known, exec.LookPath)
		if err != nil {
			return "", err
		}
		b := list[0]
		if st, err := os.Stat(self); err != nil || b.Path != self || b.Socket != socket || b.Version != "2.1" || b.Bytes != st.Size() || len(b.SHA256) != 64 || b.BuildID == "" {
			t.Errorf("%+v %v", b, err)
		}
		return Texts(b)[0], nil
	}
	at := "unix://" + socket
	text, err := bind("stayer:here="+at, "stayer:here="+at)
	require.NoError(t, err)
	if again, err := bind(text); again != text || err != nil {
		t.Errorf("%s is again %s: %v", text, again, err)
	}
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{[]string{"stayer:here=unix://sock"}, "expected the whole path of a socket, unix:///run/the-daemon.sock"},
		{[]string{"stayer:here=unix://"}, "expected the whole path of a socket"},
		{[]string{"stayer:here=" + at + "-none"}, "nobody listens at " + socket + "-none"},
		{[]string{"stayer:here=unix://" + self}, "nobody listens at"}, // a file
		{[]string{"runc:here=" + at}, "runc is not a daemon that can be used while it runs: name its file"},
		{[]string{"other:here=" + at}, "is another program: it says that it is stayer 2.1, not other"},
		{[]string{"stayer:here=" + at, "stayer:here=" + self}, "stayer:here is bound twice, to " + socket},
		{[]string{"stayer:here=" + at, "stayer:here=A=1"}, "runs already, at " + socket + ", with a configuration of its own"},
		{[]string{"stayer:here=" + at, "stayer:here=./stayer.json"}, "runs already, at " + socket + ", with a configuration of its own"},
		{[]string{"stayer:here=A=1", "stayer:here=" + at}, "runs already, at " + socket + ", with a configuration of its own"},
		{[]string{"stayer:here=" + at + "@sha256:" + strings.Repeat("0", 64)}, "is another file than before"},
	} {
		if _, err := bind(c.texts...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, not %q", c.texts, err, c.want)
		}
	}
}

// One process at two sockets is one daemon, by whichever path it is asked for.
func TestOneDaemon(t *testing.T) {
	dir := t.TempDir()
	var at []string
	for _, name := range []string{"a", "b"} {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		require.NoError(t, err)
		defer l.Close()
		at = append(at, filepath.Join(dir, name))
	}
	builds := []record.Build{{Program: "stayer", Level: "old", Socket: at[0]}, {Program: "runc", Level: "old", Path: "/bin/runc"}, {Program: "stayer", Level: "gone", Socket: at[0] + "-none"}}
	if said := OneDaemon(builds); len(said) > 0 {
		t.Errorf("one daemon, and no other: %q", said)
	}
	builds = append(builds, record.Build{Program: "stayer", Level: "new", Socket: at[1]})
	if said := OneDaemon(builds); len(said) != 1 || !strings.Contains(said[0], "stayer:old and stayer:new are one daemon, process "+strconv.Itoa(os.Getpid())) {
		t.Errorf("one daemon at two sockets: %q", said)
	}
}
