package nspawn

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/host/proc"
)

func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc", "uts", "cgroup"}
	before := residue(t)
	t.Run("suites", func(t *testing.T) { // their canaries lie there too, until they end
		for _, c := range []struct {
			storage, network string
			opts             enginetest.Options
		}{
			{overlay, "none", enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
			{directory, "host", enginetest.Options{Own: own, Shared: []string{"net", "user"}}},
			{copied, "none", enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		} {
			t.Run(c.storage+" "+c.network, func(t *testing.T) {
				t.Parallel()
				c.opts.Removes = c.storage != directory
				if c.storage != overlay {
					c.opts.Only = enginetest.Variant
				}
				enginetest.Conformance(t, New(), map[string]string{engine.Storage: c.storage, engine.Network: c.network}, c.opts)
			})
		}
	})
	for _, path := range residue(t) {
		if !slices.Contains(before, path) {
			t.Errorf("left behind: %s", path)
		}
	}
}

// residue is what nspawn leaves on the host where it is killed or has no unit.
func residue(t *testing.T) []string {
	t.Helper()
	var found []string
	patterns := []string{runDir + "/locks/*", runDir + "/propagate/*"}
	for _, mount := range hierarchies() {
		patterns = append(patterns, mount+"/payload", mount+"/supervisor", mount+"/*/payload", mount+"/nspawn-plimsoll-*")
	}
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		require.NoError(t, err)
		for _, path := range paths {
			if _, err := os.Stat(filepath.Join(path, "thesis.txt")); err == nil || canary.OfGroup(path) {
				continue // a canary of another package's tests
			}
			found = append(found, path)
		}
	}
	return found
}

func TestEndedBy(t *testing.T) {
	for said, want := range map[string]unix.Signal{
		"Container m4 terminated by signal SEGV.\n":                             unix.SIGSEGV,
		"x\nContainer plimsoll-ab-1 terminated by signal KILL.\nAttempted to …": unix.SIGKILL,
		"payload says: Container m4 terminated by signal SEGV.\n":               0,
		"": 0,
	} {
		if got := endedBy([]byte(said)); got != want {
			t.Errorf("%q: signal %v, want %v", said, got, want)
		}
	}
}

func TestChatter(t *testing.T) {
	const said = "mine\nTrying to halt container. Send SIGTERM again to trigger immediate termination.\n" +
		"Container m3 terminated by signal KILL.\n" +
		"Attempted to remove disk file system under \"/run/systemd/nspawn/propagate/m3\", and we can't allow that.\nmine too\n"
	if got := string(chatter.ReplaceAll([]byte(said), nil)); got != "mine\nmine too\n" {
		t.Errorf("what is left: %q", got)
	}
}

func TestHierarchies(t *testing.T) {
	const mounts = `31 26 0:27 / /sys/fs/cgroup/systemd rw,relatime shared:9 - cgroup cgroup rw,xattr,name=systemd
32 26 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 26 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
35 26 0:29 / /tmp/unifiedAb12Cd rw,relatime - cgroup2 cgroup rw
34 26 0:29 /a /mnt rw,relatime - cgroup2 cgroup2 rw
`
	want := []string{"/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"}
	parsed, err := proc.ParseMounts(mounts)
	if got := worked(proc.Hierarchies(parsed)); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, want %v (%v)", got, want, err)
	}
}

// A lock that somebody holds stays.
func TestUnlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inode-1:2")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_SH))
	require.NoError(t, unlock(path))
	if _, err := os.Stat(path); err != nil {
		t.Errorf("a lock in use was removed: %v", err)
	}
	require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_UN))
	require.NoError(t, unlock(path))
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a lock that nobody holds is still there: %v", err)
	}
}
