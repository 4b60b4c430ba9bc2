package trace

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestListenerWaits: the thread that listens meanwhile waits where Go's scheduler puts
// threads that may not run Go code, and not in a call for which it would keep that right.
func TestListenerWaits(t *testing.T) {
	r := recorderOf(t, Options{})
	if r.switches == nil || len(r.heralds) > 0 {
		t.Skip("this kernel takes no programs")
	}
	g := r.gather()
	end, err := g.watch()
	require.NoError(t, err)
	defer func() { require.NoError(t, end()) }()
	until(t, "it waits on a futex", func() bool {
		b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/syscall", g.watcher))
		require.NoError(t, err)
		call, _, _ := strings.Cut(string(b), " ")
		return call == strconv.Itoa(unix.SYS_FUTEX)
	})
}
