package cri

import (
	"errors"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/record"
)

// TestJoined: a build may be a server that runs already. It is the one that is asked,
// whatever the environment names, and what it lacks is not had from a private one.
func TestJoined(t *testing.T) {
	plain := imagetest.Kit(t)
	usual := &scripted{name: "containerd", conditions: ready(), pull: errors.New("the usual one is asked")}
	second := &scripted{name: "containerd", conditions: ready(), pull: errors.New("the second one is asked")}
	e := New()
	users := usual.start(t).sockets[0]
	at := second.start(t).sockets[0]
	plain.Getenv = func(name string) string {
		if name == variable {
			return "unix://" + users
		}
		return os.Getenv(name)
	}
	other := record.Build{Program: containerd, Level: "other", Path: "/usr/bin/containerd", Socket: at}
	levels := map[string]string{engine.Endpoint: containerd}
	builds, err := e.Info().BuildsFor(map[string]string{engine.Build: "other", engine.Endpoint: containerd}, []record.Build{other, {Program: crio, Level: "other", Path: "/usr/bin/crio", Socket: users}})
	require.NoError(t, err)
	kit := plain.With(builds)

	if d := e.Detect(t.Context(), kit); !d.Usable || d.Where != at {
		t.Errorf("found is %s, not %s: %s", d.Where, at, d.Reason)
	} else if l := levelOf(d, engine.Endpoint, crio); l.Usable || !strings.Contains(l.Reason, at+" is containerd") {
		t.Errorf("another kind of server: %+v", l)
	}
	refused(t, e, plain, nil, record.EngineError, "the usual one is asked")
	refused(t, e, kit, nil, record.EngineError, "the second one is asked")
	refused(t, e, kit, levels, record.EngineError, "the second one is asked")
	pids, err := (&environment{kit: kit, s: &server{}}).Residents()
	require.NoError(t, err)
	if pids[containerd] != os.Getpid() {
		t.Errorf("the server is %v, and we are %d", pids, os.Getpid())
	}

	shim := plain.With([]record.Build{other, {Program: shimProgram, Level: "other", Path: "/opt/shim"}})
	refused(t, e, shim, levels, record.Unsupported, "the containerd at "+at+" is used as it is")
	runtime := plain.With([]record.Build{other, {Program: "crun", Level: "other", Path: "/opt/crun"}})
	refused(t, e, runtime, map[string]string{engine.Runtime: "crun"}, record.Unsupported, "the containerd at "+at+" is used as it is")
	if l := levelOf(e.Detect(t.Context(), runtime), engine.Runtime, "crun"); l.Usable || !strings.Contains(l.Reason, "is used as it is") {
		t.Errorf("a build below a server that runs already: %+v", l)
	}

	other.Socket = users + "-none"
	gone := plain.With([]record.Build{other})
	refused(t, e, gone, nil, record.Unavailable, "no CRI server answers at "+other.Socket)
	if d := e.Detect(t.Context(), gone); d.Usable || !strings.Contains(d.Fix, "that containerd") {
		t.Errorf("no server where the build is: %+v", d)
	}
}
