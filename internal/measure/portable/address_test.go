package portable

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable/portabletest"
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
	put(t, home, "mine.json", `{"Connection":{"Default":"mine","Connections":{"mine":{"URI":"ssh://me@mine"}}}}`)
	put(t, home, "roaming/containers/podman-connections.json", `{"Connection":{"Default":"x","Connections":{"x":{"URI":"ssh://me@roaming"}}}}`)
	runtime := filepath.Join(home, "runtime")
	put(t, home, "runtime/podman/podman.sock", "")
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
		{Docker, map[string]string{"DOCKER_HOST": "tcp://board"}, "linux", "tcp://board:2375", "TCP without encryption"},
		{Docker, map[string]string{"DOCKER_HOST": "tcp://[fd00::1]", "DOCKER_TLS": "1"}, "linux", "tcp://[fd00::1]:2376", "TCP with TLS, the server's certificate not checked"},
		{Docker, map[string]string{"DOCKER_HOST": "ssh://me@corp.example@[::1]:22"}, "linux", "ssh://me@corp.example@[::1]:22", "ssh"},
		{Podman, map[string]string{"CONTAINER_HOST": "tcp://127.0.0.1:8888"}, "linux", "tcp://127.0.0.1:8888", "TCP without encryption"},
		{Podman, map[string]string{"CONTAINER_HOST": "tcp://board:8888", "CONTAINER_TLS_CA": filepath.Join(home, "certs", "ca.pem")}, "linux", "tcp://board:8888", "TCP with TLS"},
		{Podman, map[string]string{"CONTAINER_HOST": "unix:///x/podman.sock", "CONTAINER_TLS_CA": filepath.Join(home, "certs", "ca.pem")}, "linux", "unix:///x/podman.sock", "Unix socket"},
		// On Linux the command goes to a connection that it is told, and to no other.
		{Podman, map[string]string{"CONTAINER_CONNECTION": "machine"}, "linux", "ssh://core@127.0.0.1:53132/run/user/501/podman/podman.sock", "ssh"},
		{Podman, map[string]string{"XDG_RUNTIME_DIR": runtime}, "linux", "unix://" + filepath.Join(runtime, "podman", "podman.sock"), "Unix socket"},
		{Podman, map[string]string{"PODMAN_CONNECTIONS_CONF": filepath.Join(home, "mine.json")}, "darwin", "ssh://me@mine", "ssh"},
		{Podman, map[string]string{"APPDATA": filepath.Join(home, "roaming")}, "windows", "ssh://me@roaming", "ssh"},
	} {
		a, err := s(c.env, c.system).Find(c.engine)
		if err != nil || a.Host != c.host || a.Kind() != c.kind {
			t.Errorf("%s with %v on %s: %+v, %s, %v; want %s, %s", c.engine, c.env, c.system, a, a.Kind(), err, c.host, c.kind)
		}
	}
	for _, env := range []map[string]string{{"DOCKER_HOST": "board"}, {"DOCKER_HOST": "tcp://"}, {"DOCKER_CONTEXT": "missing"}, {"DOCKER_HOST": "ssh://board/x;reboot"}, {"DOCKER_HOST": "ssh://board/$(reboot)"}} {
		_, err := s(env, "linux").Find(Docker)
		var e *engine.Error
		if !errors.As(err, &e) {
			t.Errorf("%v: %v, want a reason", env, err)
		}
	}
}

// What a context leaves open is what Docker's client takes, and the command is told of it.
func TestOpenContext(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, portabletest.WriteContext(filepath.Join(home, ".docker"), "open", "", nil))
	s := Surroundings{Getenv: func(string) string { return "" }, Home: home, System: "linux"}
	a, err := s.Find(Docker)
	if err != nil || !strings.HasPrefix(a.Host, "unix:///") || a.Context != "open" {
		t.Errorf("%+v, %v", a, err)
	}
}

// A command goes where the run's engine is, whatever the user has set meanwhile.
func TestCommandIsTold(t *testing.T) {
	t.Setenv("CONTAINER_HOST", "ssh://me@elsewhere")
	t.Setenv("CONTAINER_CONNECTION", "elsewhere")
	t.Setenv("DOCKER_HOST", "ssh://me@elsewhere")
	s := Surroundings{LookPath: func(name string) (string, error) { return "/usr/bin/" + name, nil }}
	for _, c := range []struct {
		at   Address
		args []string
		env  []string // of those that lead Docker's client somewhere
	}{
		{Address{Engine: Podman, Host: "unix:///run/podman/podman.sock", From: usualPlace}, nil, nil},
		{Address{Engine: Podman, Host: "tcp://127.0.0.1:8888", From: "CONTAINER_HOST"}, []string{"--url", "tcp://127.0.0.1:8888"}, nil},
		{Address{Engine: Podman, Host: "ssh://core@board/run/podman.sock", From: "the connection machine", Identity: "/keys/machine"},
			[]string{"--url", "ssh://core@board/run/podman.sock", "--identity", "/keys/machine"}, nil},
		{Address{Engine: Podman, Host: "tcp://board:8888", TLS: &TLS{CA: "/c/ca.pem"}}, []string{"--url", "tcp://board:8888", "--tls-ca", "/c/ca.pem"}, nil},
		{Address{Engine: Docker, Host: "unix:///x.sock"}, nil, []string{"DOCKER_HOST=unix:///x.sock"}},
		{Address{Engine: Docker, Host: "tcp://board:2376", TLS: &TLS{CA: "/c/ca.pem"}}, nil, []string{"DOCKER_CERT_PATH=/c", "DOCKER_HOST=tcp://board:2376", "DOCKER_TLS=1", "DOCKER_TLS_VERIFY=1"}},
		{Address{Engine: Docker, Host: "tcp://board:2376", Context: "lab"}, []string{"--context", "lab"}, []string{"DOCKER_HOST=ssh://me@elsewhere"}},
	} {
		p, err := s.command(c.at, "abcdefgh")
		require.NoError(t, err)
		cmd := p.start(t.Context(), "ps")
		leads := map[string][]string{Docker: {"DOCKER_HOST", "DOCKER_TLS", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"}, Podman: {"CONTAINER_HOST", "CONTAINER_CONNECTION"}}
		env := map[string]string{}
		for _, kv := range cmd.Env { // the last one counts
			if name, _, _ := strings.Cut(kv, "="); slices.Contains(leads[c.at.Engine], name) {
				env[name] = kv
			}
		}
		if got := slices.Sorted(maps.Values(env)); !slices.Equal(cmd.Args[1:len(cmd.Args)-1], c.args) || !slices.Equal(got, c.env) {
			t.Errorf("%+v: %q with %q", c.at, cmd.Args, got)
		}
	}
}

// The key and the port of an ssh connection come from the address, and so does the
// socket on the other side.
func TestSSHArgs(t *testing.T) {
	a := Address{Engine: Podman, Host: "ssh://core@127.0.0.1:53132/run/podman.sock", Identity: "/keys/machine"}
	args, err := a.sshArgs()
	want := []string{"-i", "/keys/machine", "-l", "core", "-p", "53132", "--", "127.0.0.1", "podman", "--url", "unix:///run/podman.sock", "system", "dial-stdio"}
	if err != nil || !slices.Equal(args[len(args)-len(want):], want) || !slices.Contains(args, "BatchMode=yes") || !slices.Contains(args, "ControlMaster=no") {
		t.Errorf("%q, %v", args, err)
	}
	a = Address{Engine: Docker, Host: "ssh://me@corp.example@[::1]:22"}
	if args, err = a.sshArgs(); err != nil || !slices.Equal(args[len(args)-9:], []string{"-l", "me@corp.example", "-p", "22", "--", "::1", "docker", "system", "dial-stdio"}) {
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
