package executed

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// What one process executes, and then executes in its own place, is told in that
// order, with the digest of what lay there when it was executed.
func TestWatch(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("watching whole file systems needs root")
	}
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "another-true")
	require.NoError(t, os.WriteFile(path, data, 0o755))
	w, err := Open([]int64{int64(len(data))}, "/usr", filepath.Dir(path))
	if err != nil {
		t.Skip("this kernel does not tell of executions: ", err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	f, err := Of(path)
	require.NoError(t, err)
	cmd := exec.Command("/bin/sh", "-c", `exec "$1"`, "sh", path)
	require.NoError(t, cmd.Run())
	require.NoError(t, os.WriteFile(path, []byte("another"), 0o755))
	all, err := w.Drain()
	require.NoError(t, err)
	all = slices.DeleteFunc(all, func(x Execution) bool { return x.PID != cmd.Process.Pid })
	i := slices.IndexFunc(all, func(x Execution) bool { return x.Path == path })
	if i < 1 || all[i].File.Inode != f.Inode {
		t.Fatalf("%+v", all)
	}
	// The file was changed before it was read: it must not pass for what ran before.
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); all[i].SHA256 == sum {
		t.Errorf("the digest is of %s: %s", path, sum)
	}
	require.NoError(t, exec.Command(program).Run())
	if all, err = w.Drain(); err != nil || !slices.ContainsFunc(all, func(x Execution) bool { return x.SHA256 == fmt.Sprintf("%x", sha256.Sum256(data)) }) {
		t.Errorf("%+v %v", all, err)
	}
}
