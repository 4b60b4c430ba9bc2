//go:build linux

package browsertest

import (
	"errors"
	"os"
	"testing"

	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest/seen"
)

// Begin starts a browser for a test and ends it with the test. Where there is
// no browser, or the page has no script to try, the test is skipped.
func Begin(t *testing.T) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser: left out with -short")
	}
	if page.Script() == nil {
		t.Skip("the page was built without its script: make page")
	}
	b, err := Start(t.Context())
	if errors.Is(err, errNone) {
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

// Accessible fails the test for whatever axe-core finds on a page. Where that is
// not installed this part of the test is skipped; with CI set, where make test
// has installed it, it fails.
func Accessible(t *testing.T, p *Page) {
	t.Helper()
	found, err := p.axe()
	if seen.Excused(err, os.Getenv("CI")) {
		t.Run("axe-core", func(t *testing.T) { t.Skip(err) }) // what follows is tested all the same
		return
	}
	if err != nil {
		t.Error(err)
	}
	for _, s := range found {
		t.Errorf("axe-core: %s", s)
	}
}
