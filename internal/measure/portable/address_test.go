package portable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// put writes a file below a home.
func put(t *testing.T, home, name, text string) {
	t.Helper()
	path := filepath.Join(home, filepath.FromSlash(name))
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	s := func(env map[string]string, system string) Surroundings {
		return Surroundings{Getenv: func(name string) string { return env[name] }, Home: home, System: system}
	}
	put(t, home, "certs/ca.pem", "x")
	put(t, home, ".config/containers/podman-connections.json",
		`{"Connection":{"Default":"machine","Connections":{"machine":{"URI":"ssh://core@127.0.0.1:53132/run/user/501/podman/podman.sock","Identity":"/keys/machine"}}}}`)
	for _, c := range []struct {
		engine string
		env    map[string]string
		system string
		host   string
		kind   string
	}{
		{Docker, map[string]string{"DOCKER_HOST": "tcp://board:2375"}, "darwin", "tcp://board:2375", "TCP without encryption"},
		{Docker, map[string]string{"DOCKER_HOST": "tcp://board:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": filepath.Join(home, "certs")}, "darwin", "tcp://board:2376", "TCP with TLS"},
		{Docker, map[string]string{"DOCKER_HOST": "ssh://me@board"}, "linux", "ssh://me@board", "ssh"},
		{Docker, nil, "windows", "npipe:////./pipe/docker_engine", "named pipe"},
		{Podman, nil, "darwin", "ssh://core@127.0.0.1:53132/run/user/501/podman/podman.sock", "ssh"},
		{Podman, map[string]string{"CONTAINER_HOST": "unix:///x/podman.sock"}, "darwin", "unix:///x/podman.sock", "Unix socket"},
	} {
		a, err := s(c.env, c.system).Find(c.engine)
		if err != nil || a.Host != c.host || a.Kind() != c.kind {
			t.Errorf("%s with %v on %s: %+v, %s, %v; want %s, %s", c.engine, c.env, c.system, a, a.Kind(), err, c.host, c.kind)
		}
	}
	for _, env := range []map[string]string{{"DOCKER_HOST": "board"}, {"DOCKER_HOST": "tcp://"}, {"DOCKER_CONTEXT": "missing"}} {
		_, err := s(env, "linux").Find(Docker)
		var e *engine.Error
		if !errors.As(err, &e) {
			t.Errorf("%v: %v, want a reason", env, err)
		}
	}
}

// The key and the port of an ssh connection come from the address, and so does the
// socket on the other side.
func TestSSHArgs(t *testing.T) {
	a := Address{Engine: Podman, Host: "ssh://core@127.0.0.1:53132/run/podman.sock", Identity: "/keys/machine"}
	args, err := a.sshArgs()
	want := []string{"-i", "/keys/machine", "-l", "core", "-p", "53132", "--", "127.0.0.1", "podman", "--url", "unix:///run/podman.sock", "system", "dial-stdio"}
	if err != nil || !slices.Equal(args[len(args)-len(want):], want) || !slices.Contains(args, "BatchMode=yes") {
		t.Errorf("%q, %v", args, err)
	}
}

// A ledger that is closed with something left stays, and is read with the way to it;
// while its run lives nobody takes it for a dead one's.
func TestLedger(t *testing.T) {
	dir := t.TempDir()
	l, err := NewLedger(dir, "abcd1234")
	require.NoError(t, err)
	one, two := engine.Thing{Kind: engine.KindImage, Name: "one", Engine: Docker, At: "here"}, engine.Thing{Kind: engine.KindContainer, Name: "two", Engine: Docker, At: "here"}
	err = errors.Join(l.Reached("here", reach{Address: Address{Engine: Docker, Host: "unix:///no/such/socket"}}), l.Made(one), l.Made(two), l.Gone(two))
	require.NoError(t, err)
	s := Surroundings{LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
	if all, err := s.Clean(t.Context(), dir); err != nil || len(all) > 0 {
		t.Errorf("a living run's: %v, %v", all, err)
	}
	require.NoError(t, l.Close())
	all, err := s.Clean(t.Context(), dir)
	if err != nil || len(all) != 1 || all[0].Thing != one || all[0].Run != "abcd1234" || all[0].Kept == "" {
		t.Errorf("%+v, %v, want the image kept with a reason", all, err)
	}
	if l, err = NewLedger(dir, "wxyz1234"); err == nil {
		err = l.Close()
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "wxyz*")); err != nil || len(left) > 0 {
		t.Errorf("a ledger of nothing: %v, %v", left, err)
	}
}
