//go:build linux

package cli

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/host"
)

// Who finds the machine taken is told of --wait by each command that has it, and by
// no other.
func TestTakenNamesWait(t *testing.T) {
	with, without := 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		err := withTurn(c, fail(Failed, "taking the turn: %w", &host.BusyError{PID: 1}))
		var told *exitError
		has := c.Flags().Lookup("wait") != nil
		if !errors.As(err, &told) || strings.Contains(told.hint, "--wait") != has || told.status != Failed {
			t.Errorf("%s: %+v", c.CommandPath(), err)
		}
		if has {
			with++
			if err := c.Flags().Set("wait", "true"); err != nil {
				t.Error(err)
			}
			if err := withTurn(c, fail(Failed, "%w", &host.BusyError{PID: 1})); !errors.As(err, &told) || told.hint != "" {
				t.Errorf("%s --wait: %+v", c.CommandPath(), told)
			}
		} else {
			without++
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Root(System()))
	if with < 8 || without < 8 {
		t.Errorf("%d commands wait, %d do not", with, without)
	}
}

// A command that needs the turn is refused while we have it, and says so.
func TestTaken(t *testing.T) {
	var unlock func()
	for end := time.Now().Add(10 * time.Second); unlock == nil; time.Sleep(50 * time.Millisecond) {
		q, err := host.NewQueue(os.Geteuid() == 0, os.Getenv, "the test of a taken turn")
		if err == nil {
			unlock, _, err = q.Lock()
		}
		var busy *host.BusyError
		switch {
		case errors.As(err, &busy) && time.Now().After(end):
			t.Skipf("the turn is another's: %v", err)
		case err != nil && busy == nil:
			t.Fatal(err)
		}
	}
	defer unlock()
	var out, errs bytes.Buffer
	w := offline(t.TempDir(), machine(), &out, &errs, "clean")
	state := w.Getenv
	w.Getenv = func(name string) string { // the lock lies where the environment says
		if strings.HasPrefix(name, "PLIMSOLL_") {
			return state(name)
		}
		return os.Getenv(name)
	}
	if status := Main(w); status != int(Failed) || !strings.Contains(errs.String(), "the test of a taken turn") || !strings.Contains(errs.String(), "--wait waits for your turn") {
		t.Errorf("status %d: %s", status, errs.String())
	}
}
