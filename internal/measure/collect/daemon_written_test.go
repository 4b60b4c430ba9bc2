//go:build linux

package collect

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What a daemon writes is its share of what the machine's disks get.
func TestDaemonsShareOfWhatIsWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	const want = 4 << 20
	var fs unix.Statfs_t
	if err := unix.Statfs(os.TempDir(), &fs); err != nil || fs.Type == unix.TMPFS_MAGIC {
		t.Skipf("%s lies on no disk (%v): set TMPDIR to a directory that does", os.TempDir(), err)
	}
	c := newTestCollector(t, 20*time.Millisecond)
	daemon, other := startWorker(t, "write=4", 0), startWorker(t, "write=16", 0)
	w := c.Watch(Subject{Daemons: []int{daemon.pid()}})
	daemon.work()
	other.work()
	v := w.End(0).Values()
	if got := v["daemon-storage-written"]; got < want || got > 2*want {
		t.Errorf("the daemon wrote %d bytes, and its share is %.0f", want, got)
	}
	// The machine's disk may be one that is not ours to see.
	if all, ok := v["host-block-written"]; ok && all > 0 && all < want {
		t.Errorf("the machine wrote %.0f bytes, less than its part, %d", all, want)
	}
}
