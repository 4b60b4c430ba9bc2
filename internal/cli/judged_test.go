package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

func refusedHere(err error) bool {
	e, ok := errors.AsType[*exitError](err)
	return ok && e.status == NothingHere
}

// A run that waits for another is judged when it begins: the doctor would take the
// other's load for the machine's, and the record would call it busy for ever.
func TestWaitingRunIsJudgedLater(t *testing.T) {
	looks := 0
	w := World{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv, LookPath: exec.LookPath, Judge: func([]record.Remark) []record.Remark {
		looks++
		return []record.Remark{{Code: "busy", Level: "refuse", Text: "another program runs"}}
	}}
	s, err := newSetting(w)
	require.NoError(t, err)
	now := run.Options{Run: &record.Run{}}
	if err := describeHost(t.Context(), s, &now, false); !refusedHere(err) || looks != 1 {
		t.Errorf("without waiting: %v after %d looks, want a refusal after one", err, looks)
	}
	later := run.Options{Run: &record.Run{}, Wait: true}
	if err := describeHost(t.Context(), s, &later, false); err != nil || looks != 1 || later.Run.Host.Kernel == "" {
		t.Errorf("before waiting: %v after %d looks, kernel %q", err, looks, later.Run.Host.Kernel)
	}
	if err := later.Judge(t.Context()); !refusedHere(err) || len(later.Run.Host.Remarks) != 1 {
		t.Errorf("after waiting: %v, with the remarks %v", err, later.Run.Host.Remarks)
	}
}
