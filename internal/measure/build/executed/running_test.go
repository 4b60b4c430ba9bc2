package executed

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"plimsoll/internal/common/require"
)

// The program of a process is what it runs.
func TestRunning(t *testing.T) {
	self, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	want := fmt.Sprintf("%x", sha256.Sum256(self))
	var r Running
	for range 2 { // the second time it is known
		if sum, err := r.Of(os.Getpid()); err != nil || sum != want {
			t.Errorf("%s %v, not %s", sum, err, want)
		}
	}
	if _, err := r.Of(0); err == nil {
		t.Error("a process that is not known runs something")
	}
}
