package run

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// checks are what is wrong with real times or the real machine's memory.
type checks struct{ wrong []string }

func (c *checks) failf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

func (c *checks) near(what string, got, want, share float64) {
	if math.Abs(got-want) > share*math.Abs(want) {
		c.failf("%s is %.4g, want %.4g ± %.2g %%", what, got, want, 100*share)
	}
}

// once demands that all is right once in three times: others that take the processors, or
// memory, in the same moment spoil a try, and what is counted wrong is wrong each time.
func once(t *testing.T, try func(c *checks)) {
	t.Helper()
	var c checks
	for range 3 {
		c = checks{}
		if try(&c); len(c.wrong) == 0 {
			return
		}
		t.Log(strings.Join(c.wrong, "\n"))
	}
	t.Error(strings.Join(c.wrong, "\n"))
}
