package adapter

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// TestHelper: what has the name and the arguments of a helper and runs another
// program, or is another user's, is none.
func TestHelper(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	if sleep, err = filepath.EvalSymlinks(sleep); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "helper-v2")
	b, err := os.ReadFile(sleep)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(program, b, 0o700))
	var cmds []*exec.Cmd
	start := func(path string) int {
		cmd := exec.Command(path, "1000", "1001")
		cmd.Args[0] = "helper-v2"
		require.NoError(t, cmd.Start())
		cmds = append(cmds, cmd)
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	real, other := start(program), start(sleep)
	h := Helper{Program: "helper", Prefix: true, UID: os.Getuid(), Args: []string{"1000", "1001"}}
	if got := h.Find(); !slices.Equal(got, []int{real}) {
		t.Errorf("found %v, want %d and not %d", got, real, other)
	}
	for what, no := range map[string]Helper{
		"another user's":          {Program: "helper-v2", UID: os.Getuid() + 1, Args: h.Args},
		"other arguments":         {Program: "helper-v2", UID: os.Getuid(), Args: []string{"1001", "1000"}},
		"the beginning of one":    {Program: "helper-v2", UID: os.Getuid(), Args: []string{"100"}},
		"the beginning of a name": {Program: "helper", UID: os.Getuid(), Args: h.Args},
	} {
		if got := no.Find(); len(got) > 0 {
			t.Errorf("%s: %v", what, got)
		}
	}
	h.Kill(func(int) bool { return false })
	if len(h.Find()) != 1 {
		t.Error("what only fits was killed")
	}
	h.Kill(func(pid int) bool { return pid == real })
	if err := cmds[0].Wait(); err == nil {
		t.Error("it was not killed")
	}
	if len(Helper{Program: filepath.Base(sleep), UID: os.Getuid(), Args: h.Args}.Find()) != 1 {
		t.Error("the other one has gone too")
	}
}
