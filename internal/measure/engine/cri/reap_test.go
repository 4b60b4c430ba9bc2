package cri

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/imagetest"
)

// A server that is an ordinary user's may tell the ids of anybody's containers. Only
// what that user could end is ended for it.
func TestReapEndsNobodysElse(t *testing.T) {
	id := strings.Repeat("c0ffee00", 8)
	us := int64(os.Geteuid())
	for _, c := range []struct {
		name string
		told int64
		ends bool
	}{
		{"told by another user", us + 1, false},
		{"told by nobody", nobodyYet, false},
		{"told by ourselves", us, true},
		{"told by root", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			waits := exec.CommandContext(t.Context(), "sh", "-c", "read x", "shim", "-id", id)
			in, err := waits.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, waits.Start())
			reap("plimsoll-no-such-pod", []string{id}, c.told)
			_ = in.Close() // what was not killed ends by itself, with 1
			err = waits.Wait()
			if ended := err != nil && err.Error() == "signal: killed"; ended != c.ends {
				t.Errorf("it was ended: %t; %v", ended, err)
			}
		})
	}
}

// Who listens at the other end is known by the connection itself.
func TestPeerOfConnection(t *testing.T) {
	e := (&scripted{name: "containerd"}).start(t)
	s, err := e.connect(t.Context(), imagetest.Kit(t), engine.DefaultLevel)
	require.NoError(t, err)
	defer s.close()
	if got := s.peer.Load(); got != int64(os.Geteuid()) {
		t.Errorf("user %d listens, want %d", got, os.Geteuid())
	}
}
