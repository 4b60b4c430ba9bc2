package thread

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// nobody is a user id that owns nothing here.
const nobody = 64999

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can take another user's rights")
	}
}

// TestAs: what is done is done by the user, and may fail as the user's would.
func TestAs(t *testing.T) {
	needRoot(t)
	top := t.TempDir()
	require.Reachable(t, top)
	own := filepath.Join(top, "own")
	require.NoError(t, errors.Join(os.Mkdir(own, 0o755), os.Chown(own, nobody, nobody)))
	err := As(nobody, nobody, []int{nobody + 1}, func() error {
		if err := os.Mkdir(filepath.Join(top, "root's"), 0o755); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("making a directory in one of root's: %v, want a refusal", err)
		}
		if err := os.Chown(own, 0, 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("giving a directory away: %v, want a refusal", err)
		}
		if groups, err := unix.Getgroups(); err != nil || len(groups) != 1 || groups[0] != nobody+1 {
			t.Errorf("groups %v (%v), want the user's only", groups, err)
		}
		return os.Mkdir(filepath.Join(own, "made"), 0o755)
	})
	require.NoError(t, err)
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(own, "made"), &st); err != nil || st.Uid != nobody || st.Gid != nobody {
		t.Errorf("what was made is the user %d's of the group %d (%v), want %d's", st.Uid, st.Gid, err, nobody)
	}
	// The rest of this process is root still.
	if err := os.WriteFile(filepath.Join(top, "after"), nil, 0o600); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// TestAsSignals: the kernel decides whom a user may signal.
func TestAsSignals(t *testing.T) {
	needRoot(t)
	for uid, want := range map[uint32]error{0: unix.EPERM, nobody: nil} {
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		require.NoError(t, cmd.Start())
		err := As(nobody, nobody, nil, func() error { return unix.Kill(cmd.Process.Pid, unix.SIGTERM) })
		if !errors.Is(err, want) {
			t.Errorf("signalling a process of the user %d: %v, want %v", uid, err, want)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
}

func TestOwn(t *testing.T) {
	want := errors.New("no")
	if err := Own(func() error {
		if unix.Gettid() == unix.Getpid() {
			t.Error("it is the main thread")
		}
		return want
	}); !errors.Is(err, want) {
		t.Errorf("%v, want its own error", err)
	}
}
