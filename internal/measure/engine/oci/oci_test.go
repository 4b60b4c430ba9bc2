package oci_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/probe"
)

var (
	own    = []string{"mnt", "pid", "net", "ipc", "uts", "cgroup"}
	shared = []string{"user"}
)

func conformance(t *testing.T, levels map[string]string, opts enginetest.Options) {
	t.Helper()
	enginetest.Conformance(t, oci.New(), levels, opts)
}

// Most of the suite is waiting, so the runtimes go side by side.
func TestRunc(t *testing.T) {
	t.Parallel()
	native(t, "runc")
}

func TestCrun(t *testing.T) {
	t.Parallel()
	native(t, "crun")
}

func TestYouki(t *testing.T) {
	t.Parallel()
	native(t, "youki")
}

// native tries a runtime that shares the host's kernel.
func native(t *testing.T, runtime string) {
	opts := enginetest.Options{Own: own, Shared: shared, Hang: 2 * time.Second}
	t.Run("steps", func(t *testing.T) {
		conformance(t, map[string]string{engine.Runtime: runtime}, opts)
	})
	t.Run("run", func(t *testing.T) {
		opts := opts
		opts.Removes = true
		if runtime != "runc" {
			opts.Only = enginetest.Variant // the command is the same
		}
		conformance(t, map[string]string{engine.Runtime: runtime, engine.Client: "run"}, opts)
	})
	if runtime != "runc" {
		return // which network is said in the bundle, to all alike
	}
	t.Run("host network", func(t *testing.T) {
		opts := opts
		opts.Own, opts.Shared = []string{"mnt", "pid", "ipc", "uts"}, []string{"net", "user"}
		opts.Only = enginetest.Variant
		conformance(t, map[string]string{engine.Runtime: runtime, engine.Network: "host"}, opts)
	})
}

func TestRunsc(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"steps", "run"} {
		t.Run(client, func(t *testing.T) {
			opts := enginetest.Options{Grace: 500 * time.Millisecond, Removes: client == "run"}
			if opts.Removes {
				opts.Only = enginetest.Variant
			}
			conformance(t, map[string]string{engine.Runtime: "runsc", engine.Client: client}, opts)
		})
	}
}

// A runtime given by path is the one that is run: what a stopwatch is tried
// with.
func TestWithRuntime(t *testing.T) {
	kit := enginetest.Kit(t)
	real, err := kit.LookPath("runc")
	if err != nil || !kit.Root {
		t.Skipf("needs runc and root: %v", err)
	}
	wrapper := filepath.Join(kit.Dir, "wrapper")
	mark := filepath.Join(kit.Dir, "mark")
	script := "#!/bin/sh\necho called >> " + mark + "\nexec " + real + " \"$@\"\n"
	require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o755))
	env, err := oci.New(oci.WithRuntime("runc", wrapper)).Open(t.Context(), kit, engine.Spec{ID: "wrapped"})
	require.NoError(t, err)
	defer func() {
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	if got := env.Facts()["runtime-path"]; got != wrapper {
		t.Errorf("the fact runtime-path is %q, want %q", got, wrapper)
	}
	if text, err := os.ReadFile(mark); err != nil || strings.Count(string(text), "called") < 4 {
		t.Errorf("the wrapper was called %d times (%v), want version, create, start and delete", strings.Count(string(text), "called"), err)
	}
}

// TestNullKeepsItsOwner: gVisor gives its standard input to the container's user. It gets
// a device of the run's own, so that nothing has to be put back after a kill.
func TestNullKeepsItsOwner(t *testing.T) {
	kit := enginetest.Kit(t)
	runsc, err := kit.LookPath("runsc")
	if err != nil || !kit.Root {
		t.Skip("there is no runsc, or nobody who may run it")
	}
	wrapper := filepath.Join(kit.Dir, "runsc")
	// It looks at its standard input when the real one has ended, and the payload's user is
	// not root.
	require.NoError(t, os.WriteFile(wrapper, []byte(`#!/bin/sh
for last; do [ ! -f "$last/config.json" ] || sed -i 's/"user":{"uid":0,"gid":0}/"user":{"uid":1234,"gid":2345}/' "$last/config.json"; done
`+runsc+` "$@"
status=$?
stat -L -c "$last %d:%i %u:%g" /proc/self/fd/0 >>`+kit.Dir+`/owners
exit $status
`), 0o755))
	var machine unix.Stat_t
	require.NoError(t, unix.Stat(os.DevNull, &machine))
	// What would be the machine's, seen by the launcher only.
	null := filepath.Join(kit.Dir, "null")
	require.NoError(t, unix.Mknod(null, unix.S_IFCHR, int(unix.Mkdev(1, 3))))
	require.NoError(t, os.Chmod(null, 0o666))
	inside, start := thread.Keep(), kit.Launcher
	defer inside.Close()
	require.NoError(t, inside.Do(func() error {
		return errors.Join(thread.Unshare(0, func(string) bool { return false }), unix.Mount(null, os.DevNull, "", unix.MS_BIND, ""))
	}))
	kit.Launcher = func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
		opts.On = inside.Do
		return start(ctx, opts)
	}
	spec := engine.Spec{ID: "null", Levels: map[string]string{engine.Runtime: "runsc", engine.Image: "payload"}}
	env, err := oci.New(oci.WithRuntime("runsc", wrapper)).Open(t.Context(), kit, spec)
	require.NoError(t, err)
	require.NoError(t, env.Close(t.Context()))
	if out, err := exec.Command("stat", "-c", "%u:%g %a", null).Output(); err != nil || string(out) != "0:0 666\n" {
		t.Errorf("/dev/null is now %s, %v", out, err)
	}
	given, err := os.ReadFile(filepath.Join(kit.Dir, "owners"))
	require.NoError(t, err)
	if id := fmt.Sprintf(" %d:%d ", machine.Dev, machine.Ino); strings.Contains(string(given), id) {
		t.Errorf("runsc got the machine's /dev/null (%s): %s", id, given)
	}
	if !strings.Contains(string(given), " 65534:65534\n") {
		t.Errorf("runsc has given nothing away, so that nothing is tried: %s", given)
	}
}
