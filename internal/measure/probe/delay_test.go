package probe

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestDelay(t *testing.T) {
	path := probePath(t)
	const ns = 20_000_000
	timed := func(args ...string) (time.Duration, string) {
		begin := time.Now()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return time.Since(begin), string(out)
	}
	echo := tool(t, "echo")
	for _, test := range []struct {
		args  []string
		out   string
		sleep bool
	}{
		{[]string{path, "delay", "20000000", "--", echo, "a", "b"}, "a b\n", true},
		{[]string{path, "delay", "--only", "create", "20000000", "--", echo, "--root", "x", "create"}, "--root x create\n", true},
		{[]string{path, "delay", "--only", "create", "3600000000000", "--", echo, "start"}, "start\n", false},
	} {
		took, out := timed(test.args...)
		if out != test.out || (test.sleep && took < ns) {
			t.Errorf("%v: %q after %v", test.args, out, took)
		}
	}
}

// TestDelayBeside is the form in which a runtime is configured: one path.
func TestDelayBeside(t *testing.T) {
	dir := t.TempDir()
	b, err := os.ReadFile(probePath(t))
	require.NoError(t, err)
	name := dir + "/runc-delayed"
	require.NoError(t, os.WriteFile(name, b, 0o755))
	write := func(text string) {
		require.NoError(t, os.WriteFile(name+".delay", []byte(text), 0o644))
	}
	write("20000000 create " + tool(t, "echo") + "\n")
	for _, arg := range []string{"create", "delete"} {
		begin := time.Now()
		out, err := exec.Command(name, "--root", "/x", arg).CombinedOutput()
		if err != nil || string(out) != "--root /x "+arg+"\n" {
			t.Errorf("%s: %q %v", arg, out, err)
		}
		if arg == "create" && time.Since(begin) < 20*time.Millisecond {
			t.Errorf("create took %v", time.Since(begin))
		}
	}
	for _, bad := range []string{"", "x create /bin/echo", "5 create echo", "5"} {
		write(bad)
		if out, err := exec.Command(name, "create").CombinedOutput(); err == nil || !strings.Contains(string(out), ".delay") {
			t.Errorf("%q: %q %v", bad, out, err)
		}
	}
}
