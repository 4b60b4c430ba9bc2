package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Command runs a command line once, traced or not, from the request until it has
// ended, and gives what it took, ns. Its output goes nowhere; the end of what it
// complains of is in the error where it fails.
func (r *Recorder) Command(ctx context.Context, argv []string, traced bool) (*record.Trace, int64, error) {
	// The thread that waits is the one whose wait is explained.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	head := record.TraceHead{What: strings.Join(argv, " "), Until: string(record.Exit), Waiter: unix.Gettid()}
	said, err := memory("said")
	if err != nil {
		return nil, 0, err
	}
	defer said.Close()
	run := func() (record.TraceHead, error) {
		c := exec.CommandContext(ctx, argv[0], argv[1:]...)
		c.Stderr = said
		// Whoever interrupts us interrupts it once, through us, and all that it started.
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		c.Cancel = func() error { return unix.Kill(-c.Process.Pid, unix.SIGKILL) }
		head.From = stamp.Now()
		err := c.Run()
		head.To = stamp.Now()
		return head, err
	}
	var t *record.Trace
	if traced {
		t, err = r.Record(run)
	} else {
		_, err = run()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case errors.As(err, &exit):
		return nil, 0, fmt.Errorf("%s: %w: %s", head.What, err, lastOf(said))
	case err != nil:
		return nil, 0, err
	}
	return t, head.To - head.From, nil
}

// memory is a file that lies nowhere.
func memory(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// lastOf is the end of what a program complained of.
func lastOf(f *os.File) string {
	const most = 500
	b := make([]byte, most)
	end, err := f.Seek(0, 2)
	if err != nil {
		return ""
	}
	n, _ := f.ReadAt(b, max(0, end-most))
	return harmless.Text(strings.TrimSpace(string(b[:n])))
}
