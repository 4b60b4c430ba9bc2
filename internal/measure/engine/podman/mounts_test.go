package podman

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
)

// one is a held container of this package.
type one struct{ engine.Held }

func (one) ContainerName() string { return "other" }

// The command line and the service are asked for the same.
func TestMounts(t *testing.T) {
	other := one{}
	task := engine.Task{Name: "n", Argv: []string{"/a"}, Beside: other, Mounts: []engine.Mount{
		{Kind: engine.Bind, Source: "/a,b", Target: "/x"}, {Kind: engine.Volume, Target: "/y"},
		{Kind: engine.Tmpfs, Target: "/z", SizeBytes: 42}}}
	want := []string{`--mount=type=bind,"source=/a,b",destination=/x`, "--mount=type=volume,destination=/y",
		"--mount=type=tmpfs,tmpfs-size=42,notmpcopyup,destination=/z"}
	if got := mountArgs(task); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s := settings{network: "none"}
	if args := s.args("run", task); !slices.Contains(args, "--network=container:other") || slices.Contains(args, "--network=none") {
		t.Errorf("%q", args)
	}
	body, err := s.spec(task)
	require.NoError(t, err)
	for _, want := range []string{`"netns":{"nsmode":"container","value":"other"}`,
		`{"type":"bind","source":"/a,b","destination":"/x","options":["rbind"]}`,
		`{"type":"tmpfs","source":"tmpfs","destination":"/z","options":["size=42","notmpcopyup"]}`,
		`"volumes":[{"Dest":"/y","IsAnonymous":true}]`} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

// A volume goes with its container, whoever the client is.
func TestVolumeGoes(t *testing.T) {
	kit := enginetest.Kit(t)
	e := usable(t, kit)
	for _, by := range []string{byRun, bySteps, byAPI} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			opened, err := e.Open(t.Context(), kit, engine.Spec{ID: "volume", Levels: map[string]string{engine.Client: by, engine.Network: "none"}})
			require.NoError(t, err)
			env := opened.(*environment)
			defer func() {
				if err := env.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			args := probe.PayloadArgs{Stay: true}
			task := newTask(&args)
			task.Mounts = []engine.Mount{{Kind: engine.Volume, Target: "/srv"}}
			h, err := env.Hold(t.Context(), task)
			require.NoError(t, err)
			var seen []struct{ Mounts []struct{ Name string } }
			if err := env.p.read(t.Context(), &seen, "inspect", "--type", "container", task.Name); err != nil || len(seen) != 1 || len(seen[0].Mounts) != 1 {
				t.Errorf("%v, %+v; want one volume", err, seen)
			}
			if res, err := h.End(t.Context(), engine.Stop{Grace: 10 * time.Second}); err != nil || res.Failure != nil {
				t.Fatalf("%v, %+v", err, res.Failure)
			}
			if there, err := env.p.known(t.Context(), "volume", seen[0].Mounts[0].Name); err != nil || there {
				t.Errorf("the volume is still there: %v (%v)", there, err)
			}
		})
	}
}
