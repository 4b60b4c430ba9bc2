//go:build linux

package cli

import (
	"context"
	"testing"
	"time"
)

// A run that is to stop after a time ends as by a signal, and by a signal too;
// without a time it ends by that alone.
func TestStopAfter(t *testing.T) {
	for _, c := range []struct {
		after  time.Duration
		signal bool
		ends   bool
	}{{0, false, false}, {time.Millisecond, false, true}, {time.Hour, false, false}, {time.Hour, true, true}, {0, true, true}} {
		finish, signal := context.WithCancel(t.Context())
		ending, begin, cancel := stopAfter(finish, c.after)
		begin()
		if c.signal {
			signal()
		}
		wait := 200 * time.Millisecond
		if c.ends {
			wait = 30 * time.Second // a busy machine may take its time
		}
		select {
		case <-ending.Done():
			if !c.ends {
				t.Errorf("%+v: it ends", c)
			}
		case <-time.After(wait):
			if c.ends {
				t.Errorf("%+v: it does not end", c)
			}
		}
		cancel()
		signal()
	}
}
