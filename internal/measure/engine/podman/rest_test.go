package podman

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestSpec(t *testing.T) {
	s := settings{image: "i", runID: "r", network: "none", seccomp: "off", ulimits: []string{"--ulimit", "nofile=10:20"},
		limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 20}}
	text, err := s.spec(engine.Task{Name: "n", Argv: []string{"/a", "b"}, Env: []string{"K=v=w"}})
	require.NoError(t, err)
	const want = `{"name":"n","image":"i","entrypoint":["/a"],"command":["b"],"env":{"K":"v=w"},"labels":{"io.plimsoll.run":"r"},"annotations":{"io.plimsoll.container":"n","io.plimsoll.run":"r","io.podman.annotations.seccomp":"unconfined"},` +
		`"log_configuration":{"driver":"none"},"netns":{"nsmode":"none"},"seccomp_profile_path":"unconfined",` +
		`"r_limits":[{"type":"nofile","hard":20,"soft":10}],` +
		`"resource_limits":{"cpu":{"quota":150000,"period":100000},"memory":{"limit":1048576,"swap":1048576}}}`
	var got bytes.Buffer
	if err := json.Compact(&got, text); err != nil || got.String() != want {
		t.Errorf("%s\nwant\n%s (%v)", got.String(), want, err)
	}
}

// TestUsersService: a service that answers is used as it is, and stays; one
// that a killed run has left is found by the run's id and ended.
func TestUsersService(t *testing.T) {
	kit := enginetest.Kit(t)
	e := usable(t, kit)
	if !kit.Root {
		t.Skip("needs root, whose store this is about")
	}
	p, werr := find(kit, nil)
	if werr != nil {
		t.Fatal(werr)
	}
	s, err := p.serve(t.Context(), kit, "users")
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := s.close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	users := &environment{p: p, rest: newRest(s.socket()), service: s}
	defer users.rest.close()
	require.NoError(t, users.await(t.Context()))

	getenv := kit.Getenv
	kit.Getenv = func(name string) string {
		if name == "CONTAINER_HOST" {
			return "unix://" + s.socket()
		}
		return getenv(name)
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "api", Levels: map[string]string{engine.Client: "api",
		engine.Rootless: "no", engine.Network: "none"}})
	require.NoError(t, err)
	if f := env.Facts(); f["daemon"] != "user's" || f["host"] != "unix://"+s.socket() {
		t.Errorf("daemon %q, host %q; want the user's at %s", f["daemon"], f["host"], s.socket())
	}
	if err := env.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := users.rest.answers(t.Context()); err != nil {
		t.Errorf("the user's service has gone with the environment: %v", err)
	}

	left := p.services(s.thing())
	if len(left) != 1 {
		t.Fatalf("found %v, want the one service", left)
	}
	other := s.thing()
	other.Name += "0"
	if len(p.services(other)) != 0 {
		t.Error("a service is found by the name of another")
	}
	require.NoError(t, left[0].Remove(t.Context()))
	select {
	case <-s.done:
	case <-time.After(10 * time.Second):
		t.Error("the service still runs after its removal")
	}
}

// A service that can't start says why, and leaves nothing.
func TestServiceFails(t *testing.T) {
	kit := enginetest.Kit(t)
	usable(t, kit)
	p, werr := find(kit, nil)
	if werr != nil {
		t.Skip(werr)
	}
	p.global = append(p.global, "--storage-driver=nonesuch", "--root="+filepath.Join(kit.Dir, "r"), "--runroot="+filepath.Join(kit.Dir, "n"))
	s, err := p.serve(t.Context(), kit, "fails")
	require.NoError(t, err)
	env := &environment{p: p, rest: newRest(s.socket()), service: s}
	err = env.await(t.Context())
	if err == nil || !strings.Contains(err.Error(), "nonesuch") {
		t.Errorf("await: %v; want podman's own words", err)
	}
	if err := s.close(t.Context()); err != nil {
		t.Error(err)
	}
	if said := adapter.Words(s.said.bytes()); said == "" {
		t.Error("nothing is known of what it said")
	}
}
