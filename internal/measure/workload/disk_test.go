package workload

import (
	"testing"

	"plimsoll/internal/common/require"
)

// What a trial takes on disk is what its files are as large as, and not what
// its smallest ones are.
func TestRoomOnDisk(t *testing.T) {
	for _, c := range []struct {
		name   string
		params map[string]string
		want   int64
	}{
		{"sysbench-fileio", map[string]string{"size": "20G"}, 20 << 30},
		{"sysbench-fileio", map[string]string{"size": "64M"}, 2 << 30},
		{"fio", map[string]string{"size": "16G"}, 16 << 30},
		{"threaded-io", map[string]string{"threads": "32", "bytes": "1073741824"}, 32 << 30},
		{"small-files", map[string]string{"count": "10000000"}, 10000000 * 4096},
		{"small-files", nil, 1 << 30},
		{"blog", nil, 4 << 30},
	} {
		w, err := Find(c.name)
		require.NoError(t, err)
		if got := w.NeedsOf(c.params).DiskBytes; got != c.want {
			t.Errorf("%s, %v: %d bytes, expected %d", c.name, c.params, got, c.want)
		}
		i, err := w.Instance(c.params)
		require.NoError(t, err)
		if i.Plan.Needs.DiskBytes != c.want {
			t.Errorf("%s, %v: the trial needs %d bytes, expected %d", c.name, c.params, i.Plan.Needs.DiskBytes, c.want)
		}
	}
	for level, want := range map[string]float64{"11.9MB": 11.9e6, "1KiB": 1024, "7": 7, "2T": 2 << 40, "own": -1, "": -1, "1X": -1} {
		got, ok := bytesOf(level)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%s is %v bytes, expected %v", level, got, want)
		}
	}
}
