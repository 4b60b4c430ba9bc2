//go:build linux

package engine

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// A module is to be loaded only where the kernel takes modules and has it.
func TestModprobe(t *testing.T) {
	const dep = "kernel/fs/btrfs/btrfs.ko.xz: kernel/lib/raid6/raid6_pq.ko.xz\nkernel/drivers/md/dm-mod.ko:\n"
	for _, c := range []struct {
		name, modules, dep, want string
		asked                    []string
	}{
		{"has it", "btrfs 1", dep, "modprobe btrfs", []string{"btrfs"}},
		{"dash for underscore", "btrfs 1", dep, "modprobe dm_mod", []string{"dm_mod"}},
		{"the first that is there", "", dep, "modprobe btrfs", []string{"zfs", "btrfs"}},
		{"has another", "btrfs 1", dep, "", []string{"zfs"}},
		{"what it depends on is no name", "", dep, "", []string{"raid6_pq"}},
		{"no list", "btrfs 1", "", "", []string{"btrfs"}},
		{"takes none", "none", dep, "", []string{"btrfs"}},
	} {
		root := t.TempDir()
		write := func(path, text string) {
			t.Helper()
			path = filepath.Join(root, path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		if c.modules != "none" {
			write("proc/modules", c.modules)
		}
		if c.dep != "" {
			write("usr/lib/modules/6.1/modules.dep", c.dep)
		}
		if got := modprobe(root, "6.1", c.asked); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}
