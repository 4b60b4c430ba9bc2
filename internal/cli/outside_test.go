//go:build linux

package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// What processes call themselves, and what engines say, does nothing to the
// terminal in whichever place it is printed.
func TestNamesFromOutsideAreHarmless(t *testing.T) {
	const evil = "process 7 (\x1b]0;owned\x07x): sh -c \x1b[2J\u202efdp.exe\r\u009b31m"
	var b bytes.Buffer
	w := terminal(0)
	w.Stdout, w.Stderr = &b, &b
	printHost(w, record.Host{OS: evil, CPU: evil, Remarks: []record.Remark{{Code: "busy", Level: "warn", Text: evil, Advice: evil}}})
	printCleaned(w, &run.Cleaned{Removed: []string{evil}, LeftOn: []string{evil}, Claims: []string{evil}}, nil)
	// It ends before it has a record to print.
	_ = finishRun(w, &run.Summary{Dir: t.TempDir(), Interrupted: true, Residue: []string{evil}, Unclean: errors.Join(errors.New(evil), errors.New("second"))}, reportFlags{}, nil)
	for at, r := range b.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			t.Errorf("%q at byte %d of %q", r, at, b.String())
			break
		}
	}
	for _, want := range []string{"busy: process 7 (x): sh -c fdp.exe", "removed process 7 (x)", "left on: process 7 (x)", "left process 7 (x): sh -c fdp.exe", "left behind: process 7 (x)", "cleaning up: process 7 (x)", "cleaning up: second\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, b.String())
		}
	}
}
