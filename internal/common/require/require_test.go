package require

import (
	"errors"
	"runtime"
	"testing"
)

// noted is a test that notes what it is told, and ends its goroutine as a test does.
type noted struct {
	testing.TB
	helper bool
	fatal  error
}

func (n *noted) Helper() { n.helper = true }

func (n *noted) Fatal(args ...any) {
	n.fatal, _ = args[0].(error)
	runtime.Goexit()
}

func TestNoError(t *testing.T) {
	for _, err := range []error{nil, errors.New("broken")} {
		n, reached := &noted{}, false
		done := make(chan struct{})
		go func() {
			defer close(done)
			NoError(n, err)
			reached = true
		}()
		<-done
		if !errors.Is(n.fatal, err) || reached != (err == nil) || !n.helper {
			t.Errorf("%v: told %v, went on: %t, the caller's line: %t", err, n.fatal, reached, n.helper)
		}
	}
}
