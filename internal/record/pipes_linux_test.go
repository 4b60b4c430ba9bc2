package record

import (
	"os"
	"testing"
	"time"
)

// waitOrFree waits for what must not hang; what does is let go by a writer.
func waitOrFree(t *testing.T, done <-chan struct{}, pipe string) {
	t.Helper()
	for range 20 {
		select {
		case <-done:
			return
		case <-time.After(time.Second):
		}
		// Still there on a slow machine, or held by the pipe: then this frees it.
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	}
	t.Fatalf("%s holds its reader", pipe)
}
