package oci_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
)

func TestMechanisms(t *testing.T) {
	t.Parallel()
	for runtime, but := range map[string][]string{"runc": {engine.OwnCgroup, engine.IDMappedMount}, "crun": nil,
		"youki": {engine.OwnCgroup, engine.PivotRoot, engine.Keyring, engine.IDMappedMount}} {
		t.Run(runtime, func(t *testing.T) {
			enginetest.Mechanisms(t, oci.New(), map[string]string{engine.Runtime: runtime, engine.Network: "none"}, but...)
		})
	}
}

// TestGroupMadeBefore: without the making of its control group a container's is there
// when the runtime is called, and with it it is not.
func TestGroupMadeBefore(t *testing.T) {
	kit := enginetest.Kit(t)
	for _, runtime := range []string{"runc", "crun"} {
		t.Run(runtime, func(t *testing.T) {
			path, err := kit.LookPath(runtime)
			if err != nil || !kit.Root {
				t.Skipf("needs %s and root: %v", runtime, err)
			}
			wrapper, mark := filepath.Join(kit.Dir, runtime+"-wrapper"), filepath.Join(kit.Dir, runtime+"-mark")
			script := "#!/bin/sh\ncase \" $* \" in *' create '*) for name; do :; done; ls -d /sys/fs/cgroup/*/$name /sys/fs/cgroup/$name 2>/dev/null | wc -l >> " + mark + ";; esac\nexec " + path + " \"$@\"\n"
			require.NoError(t, os.WriteFile(wrapper, []byte(script), 0o755))
			for _, without := range []string{engine.DefaultLevel, engine.GroupMaking} {
				env, err := oci.New(oci.WithRuntime(runtime, wrapper)).Open(t.Context(), kit,
					engine.Spec{ID: "before", Levels: map[string]string{engine.Runtime: runtime, engine.Without: without}})
				require.NoError(t, err)
				require.NoError(t, env.Close(t.Context()))
				text, err := os.ReadFile(mark)
				require.NoError(t, err)
				if made := strings.TrimSpace(string(text)); (made == "0") != (without == engine.DefaultLevel) {
					t.Errorf("without %s: the runtime found %s groups of its container's", without, made)
				}
				require.NoError(t, os.Remove(mark))
			}
			for _, left := range enginetest.Left(kit) {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

func TestFilled(t *testing.T) {
	enginetest.Filled(t, oci.New(), map[string]string{engine.Network: "none"})
}
