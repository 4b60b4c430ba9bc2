package adapter

import (
	"context"
	"errors"
	"testing"
)

// TestClosing: what was opened is undone once, with a context that is not over, and what
// comes after is tried again.
func TestClosing(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var c Closing
	undone, left := 0, 0
	undo := func(ctx context.Context) []error {
		undone++
		if _, limited := ctx.Deadline(); ctx.Err() != nil || !limited {
			t.Errorf("undone with a context that is over (%v), or has no end", ctx.Err())
		}
		return []error{nil, errors.New("undone in vain")}
	}
	leave := func(context.Context) error {
		left++
		return errors.New("left in vain")
	}
	for i, want := range []string{"undone in vain\nleft in vain", "left in vain"} {
		if err := c.Do(over, undo, nil, leave); err == nil || err.Error() != want {
			t.Errorf("call %d says %v, not %q", i+1, err, want)
		}
	}
	if err := c.Do(over, undo); err != nil {
		t.Errorf("closed once more it says %v", err)
	}
	if undone != 1 || left != 2 {
		t.Errorf("undone %d times and left %d times: want once and twice", undone, left)
	}
}
