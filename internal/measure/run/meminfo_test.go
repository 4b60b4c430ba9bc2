package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
)

// elsewhere is a directory that another file system has.
func elsewhere(t *testing.T, than string) string {
	t.Helper()
	var of, other unix.Stat_t
	require.NoError(t, unix.Stat(than, &of))
	for _, dir := range []string{"/dev/shm", "/var/tmp"} {
		if unix.Stat(dir, &other) == nil && other.Dev != of.Dev {
			return dir
		}
	}
	t.Skipf("/dev/shm and /var/tmp lie on the file system of %s, or are not here", than)
	return ""
}

// What is free is MemFree, and not what could be made free; what lies in the
// processors' own lists is free too.
func TestMeminfo(t *testing.T) {
	root := files(t, map[string]string{"proc/meminfo": meminfoText})
	d := proc.Dir(filepath.Join(root, "proc"))
	m, err := readMeminfo(d)
	if err != nil || m.Total != 1000000<<10 || m.Free != 1<<10 || m.Available != 700000<<10 {
		t.Errorf("%+v, %v", m, err)
	}
	const zones = "Node 0, zone    DMA32\n  pages free     772917\n        boost    0\n  pagesets\n    cpu: 0\n              count:    5\n              high:     252\n" +
		"    cpu: 1\n              count:    7\n  vm stats threshold: 24\nNode 0, zone   Normal\n  pagesets\n    cpu: 0\n              count:    100\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc", "zoneinfo"), []byte(zones), 0o600))
	listed := int64(112 * os.Getpagesize())
	if m, err = readMeminfo(d); err != nil || m.Free != 1<<10+listed || m.Available != 700000<<10+listed {
		t.Errorf("with lists of %d bytes: %+v, %v", listed, m, err)
	}
	// As in a container of LXC's, whose meminfo another file system has.
	mine := filepath.Join(root, "proc", "meminfo")
	theirs, err := os.CreateTemp(elsewhere(t, root), "plimsoll-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(theirs.Name()) })
	_, err = theirs.WriteString(meminfoText)
	require.NoError(t, errors.Join(err, theirs.Close(), os.Rename(mine, mine+"-kept"), os.Symlink(theirs.Name(), mine)))
	if m, err = readMeminfo(d); err != nil || m.Free != 1<<10 || m.Available != 700000<<10 {
		t.Errorf("with the lists of another machine: %+v, %v", m, err)
	}
	require.NoError(t, os.Rename(mine+"-kept", mine))
	// Where nobody is let at the lists, the rest is read all the same.
	require.Reachable(t, root)
	require.NoError(t, os.Chmod(filepath.Join(root, "proc", "zoneinfo"), 0))
	const nobody = 65534
	err = thread.As(nobody, nobody, nil, func() (err error) { m, err = readMeminfo(d); return err })
	if err != nil || m.Free != 1<<10 || m.Available != 700000<<10 {
		t.Errorf("with lists that are closed to us: %+v, %v", m, err)
	}
	require.NoError(t, os.Chmod(filepath.Join(root, "proc", "zoneinfo"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "proc", "zoneinfo"), []byte("count: many\n"), 0o600))
	if m, err = readMeminfo(d); err == nil {
		t.Errorf("lists that can't be read are %+v", m)
	}
}

// TestGuardIn: the processors' own lists are asked for only where it depends on them, and
// then they count.
func TestGuardIn(t *testing.T) {
	lists := fmt.Sprintf("count: %d\n", (64<<20)/os.Getpagesize())
	for _, c := range []struct {
		name, available, zones string
		limit                  bool
	}{
		{"much is left", "700000", "count: none of our business\n", false},
		{"little is left, and more in the lists", "500000", lists, false},
		{"little is left, and too little in the lists", "400000", lists, true},
		{"little is left, and the lists can't be read", "500000", "count: many\n", true},
	} {
		d := proc.Dir(filepath.Join(files(t, map[string]string{
			"proc/meminfo": strings.Replace(meminfoText, "700000", c.available, 1), "proc/zoneinfo": c.zones}), "proc"))
		if l, err := guardIn(d, 0, nil); err != nil || (l != nil) != c.limit {
			t.Errorf("%s: %+v, %v", c.name, l, err)
		}
	}
}
