package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// In poor conditions a run comes to a result or to an error that says what is wrong, and
// leaves nothing behind.
func TestPoorConditions(t *testing.T) {
	if testing.Short() {
		t.Skip("measures in each condition: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("a full file system is mounted, and another user is taken on: both need root")
	}
	p := &subject{t: t, dir: t.TempDir()}
	require.Reachable(t, p.dir) // for nobody
	mount := func(name string, flags uintptr, options string) string {
		dir := filepath.Join(p.dir, name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", flags, options))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, unix.MNT_DETACH)) })
		return dir
	}
	full, readOnly := mount("full", 0, "size=200k"), mount("read-only", unix.MS_RDONLY, "")
	private := filepath.Join(p.dir, "nobody")
	require.NoError(t, os.Mkdir(private, 0o700))
	require.NoError(t, os.Chown(private, 65534, 65534))
	const study = "plimsoll: 1\nname: poor\nprotocol: {blocks: 2, warmup: 0}\nworkloads: [hello]\nenvironments: [host, {engine: oci, runtime: crun, network: none}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "poor.yaml"), []byte(study), 0o644)) //nolint:gosec // nobody reads it
	for name, c := range map[string]struct {
		around string // a shell command in which "$@" is Plimsoll
		out    string
		status []int
		says   string
	}{
		"full disk":           {`exec "$@"`, full + "/out", []int{0, 1, 6}, "no space left"},
		"full disk for state": {`PLIMSOLL_STATE=` + full + `/state exec "$@"`, "full-state", []int{1, 5}, "no space left"},
		"read-only output":    {`exec "$@"`, readOnly + "/out", []int{1}, "read-only file system"},
		"read-only state":     {`PLIMSOLL_STATE=` + readOnly + `/state exec "$@"`, "ro-state", []int{1}, "read-only file system"},
		"64 open files":       {`ulimit -n 64; exec "$@"`, "files", []int{0, 6}, ""},
		"closed output":       {`exec "$@" >&-`, "closed", []int{0, 1}, ""},
		"full output":         {`exec "$@" >/dev/full`, "full-output", []int{1}, "no space left"},
		"a user namespace":    {`PLIMSOLL_STATE=` + p.dir + `/userns exec unshare -Ur "$@"`, "userns", []int{0, 1, 5}, ""},
		"nobody": {`HOME=` + private + ` XDG_RUNTIME_DIR=` + private + ` PLIMSOLL_STATE=` + private + `/state exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`,
			private + "/out", []int{0}, ""},
		"nobody, without a home": {`HOME=/nonexistent PLIMSOLL_STATE= XDG_RUNTIME_DIR= exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`,
			private + "/homeless", []int{1}, "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			plimsoll := p.command("run", "--wait", "--force", "--progress", "none", "poor.yaml", "-o", c.out)
			// TestMain goes by the name, and a shell can't choose one.
			link := filepath.Join(p.dir, "plimsoll")
			_ = os.Symlink(plimsoll.Path, link) // the first condition makes it
			cmd := exec.Command("sh", append([]string{"-c", c.around, "sh", link}, plimsoll.Args[1:]...)...)
			cmd.Env, cmd.Dir = plimsoll.Env, plimsoll.Dir
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			_ = cmd.Run() // the status says it
			status := cmd.ProcessState.ExitCode()
			text := out.String() + said.String()
			if !strings.Contains(text, c.says) || strings.Contains(text, "goroutine ") {
				t.Errorf("status %d, want the words %q and no trace:\n%s", status, c.says, text)
			}
			ok := false
			for _, s := range c.status {
				ok = ok || s == status
			}
			if !ok || cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
				t.Errorf("status %d, want one of %v:\n%s", status, c.status, text)
			}
			if code, said := p.run("clean", "--wait"); code != 0 || !strings.Contains(said, "Nothing was left behind") {
				t.Errorf("clean afterwards: status %d\n%s", code, said)
			}
		})
	}
}
