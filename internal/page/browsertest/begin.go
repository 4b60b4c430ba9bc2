//go:build linux

package browsertest

import (
	"errors"
	"testing"

	"plimsoll/internal/page"
)

// Begin starts a browser for a test and ends it with the test. Where there is
// no browser, or the page has no script to try, the test is skipped.
func Begin(t *testing.T) *Browser {
	t.Helper()
	if page.Script() == nil {
		t.Skip("the page was built without its script: make page")
	}
	b, err := Start(t.Context())
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
