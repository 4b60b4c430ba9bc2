package cli

import (
	"bytes"
	"errors"
	"testing"

	"plimsoll/internal/measure/run"
)

// TestNothingLeft: only a clean-up without an error, and with nothing kept, says that
// nothing was left.
func TestNothingLeft(t *testing.T) {
	for _, c := range []struct {
		cleaned run.Cleaned
		err     error
		says    bool
	}{
		{run.Cleaned{}, nil, true},
		{run.Cleaned{}, errors.New("no right to look"), false},
		{run.Cleaned{Kept: []run.KeptOver{{}}}, nil, false},
		{run.Cleaned{Others: []string{"/s/runs/abcd1234/owner.json belongs to alice (uid 1001)"}}, nil, false},
	} {
		var out bytes.Buffer
		printCleaned(World{Stdout: &out}, &c.cleaned, c.err)
		if bytes.Contains(out.Bytes(), []byte("Nothing was left")) != c.says {
			t.Errorf("%v, %v: %s", c.cleaned, c.err, &out)
		}
	}
}
