package cgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

func TestVersionOf(t *testing.T) {
	for want, lines := range map[string][]string{
		"v2": {"/ DIR/cg rw - cgroup2 cgroup2 rw", "/ DIR/systemd rw - cgroup cgroup rw,name=systemd"},
		"v1": {"/ DIR/unified rw - cgroup2 cgroup2 rw", "/ DIR/cpu rw - cgroup cgroup rw,cpu,cpuacct", "/ DIR/mem rw - cgroup cgroup rw,memory"},
		"":   {"/ /tmp rw - tmpfs tmpfs rw"},
	} {
		d, _ := layout(t, lines...)
		if hs, err := d.Hierarchies(); err != nil || versionOf(hs) != want {
			t.Errorf("%v: %q, want %q (%v)", lines, versionOf(hs), want, err)
		}
	}
}

// A group that was left with a process in it, and with a group below.
func TestRemoveNamed(t *testing.T) {
	l := ledger{}
	c, err := New(&engine.Kit{RunID: "wrapname", Ledger: l}, "x", both)
	require.NoError(t, err)
	if len(c.dirs) == 0 {
		t.Skipf("no cgroup can be made here: %s", c.why)
	}
	sleep := exec.Command("sleep", "60")
	require.NoError(t, sleep.Start())
	for _, d := range c.dirs {
		below := filepath.Join(d.path, "below")
		require.NoError(t, os.Mkdir(below, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(below, "cgroup.procs"), []byte(strconv.Itoa(sleep.Process.Pid)), 0))
	}
	if err := RemoveNamed(t.Context(), ledger{}, c.name); err == nil {
		t.Error("a group that no ledger names was removed")
	}
	l[engine.Thing{Kind: engine.KindContainer, Name: c.name}] = true
	done := make(chan error, 1)
	go func() { done <- sleep.Wait() }() // a zombie keeps its group
	if err := RemoveNamed(t.Context(), l, c.name); err != nil {
		t.Error(err)
	}
	<-done
	if left := named(t, "wrapname"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := RemoveNamed(t.Context(), l, c.name); err != nil {
		t.Error("for the second time:", err)
	}
	for _, bad := range []string{"", ".", "..", "plimsoll-x/../.."} {
		if RemoveNamed(t.Context(), l, bad) == nil {
			t.Errorf("%q was taken for a group of ours", bad)
		}
	}
}
