package safepath

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

type unixStat = syscall.Stat_t

// asUser runs one test of this binary again, as an ordinary user.
func asUser(t *testing.T, name string) {
	t.Helper()
	// The binary lies where only root may go.
	dir, err := os.MkdirTemp("/tmp", "safepath-test-")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o755))
	home := mkdir(t, filepath.Join(dir, "home"), 0o700, stranger)
	in, err := os.Open("/proc/self/exe")
	must(t, err)
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(dir, "test"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	must(t, err)
	_, err = io.Copy(out, in)
	must(t, err, out.Close(), os.Chmod(out.Name(), 0o755))
	cmd := exec.Command(out.Name(), "-test.run", "^"+name+"$")
	cmd.Dir, cmd.Env = home, append(os.Environ(), "TMPDIR="+home, "HOME="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("as user %d: %v\n%s", stranger, err, text)
	}
}
