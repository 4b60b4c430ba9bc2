package oci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
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
