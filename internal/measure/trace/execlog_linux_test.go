package trace

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// TestExecutions: each execution is there once with what its command line says, also of a
// program that is over at once, by a program in the kernel; by perf events each is there,
// and is called by its file where it was over too early.
func TestExecutions(t *testing.T) {
	for name, o := range map[string]Options{"by programs in the kernel": {}, "asked for": {asks: true}, "by perf events": {noPrograms: true}} {
		t.Run(name, func(t *testing.T) {
			r := recorderOf(t, o)
			asked := o.noPrograms || o.asks
			if r.execs == nil && !asked {
				t.Skip("this kernel takes no programs")
			}
			if (len(r.heralds) > 0) != (r.execs == nil) {
				t.Errorf("%d buffers wake us, although a program in the kernel copies command lines: %v", len(r.heralds), r.execs != nil)
			}
			long := strings.Repeat("x", 3*lineRoom)
			// The program's name, what its arguments are, and what it is called then.
			lines := []struct {
				argv []string
				want string
			}{
				{[]string{"/somewhere/runtime-a", "--root", "/run", "create"}, "runtime-a create"},
				{[]string{"runtime-b", "--root", long[:lineRoom/2], "start"}, "runtime-b start"},
				{[]string{"runtime-c", "create", long}, "runtime-c create"},
				{[]string{"runtime-d", "--root", long, "create"}, "runtime-d …"},
				{[]string{"named by itself, as some are"}, "named by itself, as some are"},
			}
			const each = 10
			tr, err := r.Record(func() (record.TraceHead, error) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				head := record.TraceHead{From: stamp.Now(), Waiter: unix.Gettid()}
				for range each {
					for _, l := range lines {
						c := exec.Command("true")
						c.Args = l.argv
						if err := c.Run(); err != nil {
							return head, err
						}
					}
				}
				head.To = stamp.Now()
				return head, nil
			})
			require.NoError(t, err)
			ours := map[int]bool{}
			for _, e := range tr.Events {
				if e.Kind == record.TraceFork && e.Thread == tr.Waiter {
					ours[e.Process] = true
				}
			}
			called := map[string]int{}
			sum := 0
			for _, e := range tr.Events {
				if e.Kind == record.TraceExec && ours[e.Thread] {
					called[e.Text]++
					sum++
				}
			}
			if sum != each*len(lines) || tr.Tail.Lost > 0 {
				t.Errorf("%d of %d executions were seen, %d events lost: %v", sum, each*len(lines), tr.Tail.Lost, called)
			}
			for _, l := range lines {
				if n := called[l.want]; n != each && !asked {
					t.Errorf("%d of %d are called %q: %v", n, each, l.want, called)
				}
			}
		})
	}
}

// TestExecutionsLost: what finds no room is counted.
func TestExecutionsLost(t *testing.T) {
	r := recorderOf(t, Options{Pages: 1})
	if r.execs == nil {
		t.Skip("this kernel takes no programs")
	}
	// What a recording begins with forgets the count of the one before.
	require.NoError(t, r.execs.begin())
	for range 50 {
		require.NoError(t, exec.Command("true").Run())
	}
	require.NoError(t, r.execs.end())
	if room := int64(r.execs.cpus()); r.execs.lost() < 50-room {
		t.Errorf("of 50 executions %d were lost, with room for %d", r.execs.lost(), room)
	}
}

// TestReadExec: what is cut off, cannot be read or says nothing.
func TestReadExec(t *testing.T) {
	for _, c := range []struct {
		path, line string
		length     int
		want       string
	}{
		{"/usr/bin/runc", "runc\x00--log\x00/x\x00create\x00", 0, "runc create"},
		{"/usr/bin/runc", "", 40, "runc"}, // not to be read
		{"/usr/bin/runc", "\x00", 0, "runc"},
		{"/proc/self/exe", "", 0, ""},
		{"/dev/fd/7", "runc\x00init\x00", 0, "runc init"},
		{"/usr/bin/podman", "podman\x00--root\x00" + strings.Repeat("x", lineRoom-14), 5000, "podman …"},
		{"/usr/bin/podman", "podman\x00run\x00" + strings.Repeat("x", lineRoom-11), 5000, "podman run"},
		{"/usr/bin/podman", strings.Repeat("x", lineRoom), 5000, "podman"},
		{"/" + strings.Repeat("d/", pathRoom), "", 0, ""},
	} {
		s := make([]byte, execSlot)
		binary.NativeEndian.PutUint64(s[lengthAt:], uint64(max(c.length, len(c.line)))) //nolint:gosec // small
		binary.NativeEndian.PutUint32(s[copiedAt:], uint32(len(c.line)))                //nolint:gosec // small
		binary.NativeEndian.PutUint32(s[pathLenAt:], uint32(min(len(c.path)+1, pathRoom)))
		copy(s[pathAt:lineAt], c.path)
		copy(s[lineAt:], c.line)
		if got := readExec(s).called(); got != c.want {
			t.Errorf("%s: called %q, expected %q", fmt.Sprintf("%.40q, %.40q", c.path, c.line), got, c.want)
		}
	}
}
