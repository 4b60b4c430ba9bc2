package adapter

import "testing"

func TestSignalFailure(t *testing.T) {
	for _, c := range []struct {
		status  int
		stopped bool
		fails   bool
	}{{0, false, false}, {7, false, false}, {137, false, true}, {139, false, true}, {137, true, false}, {143, true, false}, {139, true, true}, {255, false, false}} {
		f := SignalFailure(c.status, c.stopped)
		if (f != nil) != c.fails {
			t.Errorf("status %d, stopped %v: %+v", c.status, c.stopped, f)
		}
	}
}
