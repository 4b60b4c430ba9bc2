package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable/portabletest"
)

// contexts are a setting with an environment, and what it makes of a Docker context.
type contexts struct {
	*setting
	env map[string]string
}

func newContexts() contexts {
	env := map[string]string{}
	return contexts{&setting{world: World{Getenv: func(k string) string { return env[k] }}, root: os.Geteuid() == 0}, env}
}

func (c contexts) socket(t *testing.T, program, name string) (string, error) {
	t.Helper()
	a, err := build.Parse(program+":old=context:"+name, "--build", "/")
	require.NoError(t, err)
	out, err := c.withoutContexts([]build.Asked{a})
	if err != nil {
		return "", err
	}
	if out[0].Context != "" || out[0].Path != "" {
		t.Errorf("%s: %+v", name, out[0])
	}
	return out[0].Socket, nil
}

// TestDockerContext: a Docker context is its socket of this machine; where it leads
// elsewhere, or is none, one sentence says so.
func TestDockerContext(t *testing.T) {
	home := t.TempDir()
	for name, host := range map[string]string{"here": "unix:///run/other/../docker.sock", "far": "ssh://me@far", "tls": "tcp://10.0.0.7:2376", "part": "unix://docker.sock"} {
		require.NoError(t, portabletest.WriteContext(filepath.Join(home, ".docker"), name, host, nil))
	}
	require.NoError(t, portabletest.WriteContext(filepath.Join(home, ".docker"), "empty", "", nil))
	require.NoError(t, portabletest.WriteContext(filepath.Join(home, ".docker"), "large", "unix:///"+strings.Repeat("x", 1<<20), nil))
	other := t.TempDir()
	require.NoError(t, portabletest.WriteContext(other, "here", "unix:///run/third.sock", nil))
	t.Setenv("HOME", home)
	for _, c := range []struct {
		program, name, config, host string
		want, wrong                 string
	}{
		{"dockerd", "here", "", "", "/run/docker.sock", ""},
		{"dockerd", "here", other, "", "/run/third.sock", ""},
		{"dockerd", "default", "", "", "/var/run/docker.sock", ""},
		{"dockerd", "default", "", "unix:///run/mine.sock", "/run/mine.sock", ""},
		{"dockerd", "default", "", "unix://", "/var/run/docker.sock", ""},
		{"dockerd", "empty", "", "", "/var/run/docker.sock", ""},
		{"dockerd", "large", "", "", "", "more than 1 MiB: expected a context of Docker"},
		{"dockerd", "default", "", "tcp://10.0.0.8:2376", "", `leads to "tcp://10.0.0.8:2376", which is not a socket on this machine`},
		{"dockerd", "far", "", "", "", `--build dockerd:old=context:far: the Docker context far leads to "ssh://me@far", which is not a socket on this machine: plimsoll run --portable`},
		{"dockerd", "tls", "", "", "", "which is not a socket on this machine"},
		{"dockerd", "part", "", "", "", "expected the whole path of a socket"},
		{"dockerd", "far", other, "", "", `there is no Docker context "far" in ` + other + ": docker context ls"},
		{"dockerd", "none", "", "", "", `there is no Docker context "none" in ` + home + "/.docker"},
		{"containerd", "here", "", "", "", "a Docker context is of a dockerd: of a containerd name the socket"},
	} {
		s := newContexts()
		s.env["DOCKER_CONFIG"], s.env["DOCKER_HOST"] = c.config, c.host
		got, err := s.socket(t, c.program, c.name)
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s %s (%s %s): %q %v", c.program, c.name, c.config, c.host, got, err)
		}
	}
	if _, err := build.Parse("dockerd:old=context:../x", "--build", "/"); err == nil || !strings.Contains(err.Error(), "is not the name of a context") {
		t.Errorf("a name that is a path: %v", err)
	}
}

// TestDockerContextOfCaller: for root the contexts are those of the user who called sudo,
// then its own; nothing is read through what somebody else could have put there.
func TestDockerContextOfCaller(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user has no other's contexts")
	}
	root, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", root)
	const uid = 54321
	give := func(dir string) {
		t.Helper()
		require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Lchown(path, uid, uid)
		}))
	}
	require.NoError(t, portabletest.WriteContext(filepath.Join(root, ".docker"), "both", "unix:///run/root.sock", nil))
	require.NoError(t, portabletest.WriteContext(filepath.Join(root, ".docker"), "roots", "unix:///run/root.sock", nil))
	require.NoError(t, portabletest.WriteContext(filepath.Join(home, ".docker"), "both", "unix:///run/user.sock", nil))
	give(home)
	s := newContexts()
	s.user = &engine.User{Name: "someone", UID: uid, Home: home}
	s.env["SUDO_USER"], s.env["SUDO_UID"] = "someone", "54321"
	for name, want := range map[string]string{"both": "/run/user.sock", "roots": "/run/root.sock"} {
		if got, err := s.socket(t, "dockerd", name); err != nil || got != want {
			t.Errorf("%s: %q %v, not %s", name, got, err, want)
		}
	}
	s.env["SUDO_UID"] = "" // the directory is a stranger's then
	if got, err := s.socket(t, "dockerd", "both"); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Errorf("a stranger's: %q %v", got, err)
	}
	s.env["SUDO_UID"] = "54321"
	files, err := filepath.Glob(filepath.Join(home, ".docker/contexts/meta/*/meta.json"))
	require.NoError(t, err)
	require.NoError(t, os.Rename(files[0], filepath.Join(home, "elsewhere")))
	require.NoError(t, os.Symlink(filepath.Join(home, "elsewhere"), files[0]))
	if got, err := s.socket(t, "dockerd", "both"); err == nil {
		t.Errorf("through a link: %q", got)
	}
}
