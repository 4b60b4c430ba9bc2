package containerdclient

import "testing"

// TestHow: it is told of how many parts containerd's own word was taken.
func TestHow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seen, all int
		want      string
	}{
		{6, 6, "st_blocks of blobs and of the snapshots' directories"},
		{0, 6, "bytes of blobs, and containerd's usage of snapshots"},
		{4, 6, "st_blocks of blobs and of the snapshots' directories; of 2 of 6 parts containerd's own word"},
	} {
		if got := how(c.seen, c.all); got != c.want {
			t.Errorf("of %d parts %d were seen: %q", c.all, c.seen, got)
		}
	}
}
