package devnull

import (
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestOpen: it is a null device for everybody, and root's is not the machine's.
func TestOpen(t *testing.T) {
	f, err := Open()
	require.NoError(t, err)
	var own, machine unix.Stat_t
	require.NoError(t, unix.Fstat(int(f.Fd()), &own))
	require.NoError(t, unix.Stat(os.DevNull, &machine))
	if own.Rdev != machine.Rdev || own.Mode != unix.S_IFCHR|0o666 {
		t.Errorf("device %#x of mode %o, want %#x of mode %o", own.Rdev, own.Mode, machine.Rdev, machine.Mode)
	}
	if text, err := io.ReadAll(f); err != nil || len(text) > 0 {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC); err != nil {
		t.Skip("no own device can be made here: ", err)
	} else {
		unix.Close(fd)
	}
	if own.Dev == machine.Dev {
		t.Error("it is the machine's /dev/null")
	}
}
