//go:build linux

package host

import (
	"os/exec"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// A process may call itself what it likes: told of, it is one harmless line.
func TestResidueIsHarmless(t *testing.T) {
	before, err := Machine{}.Census(t.Context())
	require.NoError(t, err)
	cmd := exec.Command("sh", "-c", "read line", "evil\x1b[2J\u202e\nremoved everything")
	stdin, err := cmd.StdinPipe() // it waits for a line
	require.NoError(t, err)
	defer stdin.Close()
	require.NoError(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	now, err := Machine{}.Census(t.Context())
	require.NoError(t, err)
	for _, it := range now.Since(before) {
		if it.PID != cmd.Process.Pid {
			continue
		}
		if s := it.String(); strings.ContainsAny(s, "\x1b\n\u202e") || !strings.Contains(s, "evil removed everything") {
			t.Errorf("%q", s)
		}
		return
	}
	t.Error("the process is not in the census")
}
