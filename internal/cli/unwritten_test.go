//go:build linux

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// refusing takes so many bytes, and then no more.
type refusing struct {
	room int
	why  error
}

func (r *refusing) Write(b []byte) (int, error) {
	if len(b) > r.room {
		n := r.room
		r.room = 0
		return n, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: r.why}
	}
	r.room -= len(b)
	return len(b), nil
}

// saying is what a command says where its output takes only so many bytes.
func saying(t *testing.T, out *refusing, args ...string) (errs string, status Status) {
	t.Helper()
	var b bytes.Buffer
	w := offline(t.TempDir(), machine(), out, &b, args...)
	if len(args) > 0 && args[0] == "studies" {
		w.Engines = nil // the bundled ones name those that there are
	}
	status = Status(Main(w))
	return b.String(), status
}

// A help that can't be written is a failure of every command; whose reader had enough of
// it is not.
func TestUnwrittenHelp(t *testing.T) {
	const told = "plimsoll: the output could not be written: no space left on device\n"
	commands := 0
	var walk func(c *cobra.Command, args []string)
	walk = func(c *cobra.Command, args []string) {
		commands++
		args = append(slices.Clone(args), "--help")
		want := Failed
		if c.Annotations[usageStatus] != "" {
			want = stepAbort
		}
		if errs, status := saying(t, &refusing{20, syscall.ENOSPC}, args...); errs != told || status != want {
			t.Errorf("plimsoll %v: status %d, not %d: %q", args, status, want, errs)
		}
		if errs, status := saying(t, &refusing{20, syscall.EPIPE}, args...); errs != "" || status != Done {
			t.Errorf("plimsoll %v into a closed pipe: status %d: %q", args, status, errs)
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub, append(args[:len(args)-1:len(args)-1], sub.Name()))
			}
		}
	}
	walk(tree(), nil)
	if commands < 30 {
		t.Errorf("only %d commands", commands)
	}
}

// So it is with what commands print, whether they look at how it went or not, once.
func TestUnwrittenAnswer(t *testing.T) {
	const told = "plimsoll: the output could not be written: no space left on device\n"
	for _, args := range [][]string{
		{}, {"--version"}, {"version"}, {"version", "--format", "json"}, {"help", "run"}, {"completion", "bash"}, {"studies"},
		{"studies", "--format", "json"}, {"studies", "show", "quick"}, {"workloads"}, {"workloads", "show", "hello"}, {"engines"},
		{"engines", "docker"}, {"engines", "--format", "json"}, {"image", "list"}, {"floor", "--study"},
	} {
		if errs, status := saying(t, &refusing{0, syscall.ENOSPC}, args...); errs != told || status != Failed {
			t.Errorf("plimsoll %v: status %d: %q", args, status, errs)
		}
	}
}

// What else went wrong is told too, and an interrupted run can still be resumed.
func TestUnwrittenAndMore(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err    error
		status Status
		says   string
		hint   string
	}{
		{nil, Failed, "", ""},
		{quiet(GateFailed), Failed, "", ""},
		{fmt.Errorf("printing: %w", full), Failed, "", ""},
		{errors.Join(full, full), Failed, "", ""},
		{errors.Join(full, errors.New("a mount was left")), Failed, "a mount was left\n", ""},
		{fail(SomeFailed, "2 of 9 trials failed"), Failed, "2 of 9 trials failed\n", ""},
		{withHint(fail(Interrupted, "interrupted"), "go on"), Interrupted, "interrupted\n", "go on"},
	} {
		out := &answer{Writer: &refusing{0, syscall.ENOSPC}}
		if _, err := out.Write([]byte("table")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		got, ok := errors.AsType[*exitError](out.whole(c.err))
		if !ok || got.status != c.status || got.hint != c.hint || got.Error() != c.says+"the output could not be written: no space left on device" {
			t.Errorf("%v: %+v", c.err, got)
		}
	}
	fine := &answer{Writer: &bytes.Buffer{}}
	if _, err := fine.Write([]byte("table")); err != nil || fine.whole(nil) != nil || strings.Contains(fmt.Sprint(fine.whole(full)), "output") {
		t.Error(err, fine.whole(full))
	}
}
