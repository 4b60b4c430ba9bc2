//go:build linux && !unit

package browsertest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/page/browsertest/seen"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func open(t *testing.T, b *Browser, name string, o Options) *Page {
	t.Helper()
	p := must[*Page](t)(b.Open("testdata/"+name, o))
	t.Cleanup(p.Close)
	return p
}

// What is said of a page without faults, and that each fault is found.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser: left out with -short")
	}
	b, err := Start(t.Context())
	if errors.Is(err, errNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	t.Run("good", func(t *testing.T) { good(t, b) })
	t.Run("bad", func(t *testing.T) { bad(t, b) })
	t.Run("options", func(t *testing.T) { options(t, b) })
}

func good(t *testing.T, b *Browser) {
	p := open(t, b, "good.html", Phone)
	none := func(what string, list []string, err error) {
		t.Helper()
		if err != nil || len(list) > 0 {
			t.Errorf("%s: %q %v", what, list, err)
		}
	}
	look := must[seen.Look](t)(p.Look("#chart"))
	if !look.Drawn() {
		t.Errorf("a chart of three lines counts as not drawn: %+v", look)
	}
	walk := must[Walk](t)(p.Walk())
	if len(walk.Stops) < 5 || len(walk.Missed)+len(walk.Unseen)+len(walk.Covered) > 0 {
		t.Errorf("%+v", walk)
	}
	saved := must[File](t)(p.Save("#save"))
	if saved.Name != "numbers.csv" || string(saved.Data) != "one,two\r\n1,2\r\n" {
		t.Errorf("saved %q: %q", saved.Name, saved.Data)
	}
	if err := p.Click("#choice"); err != nil {
		t.Error(err)
	}
	if !must[bool](t)(Eval[bool](p, `document.querySelector("#box").checked`)) {
		t.Error("a click on a label does nothing")
	}
	if pdf := must[[]byte](t)(p.PDF()); !strings.HasPrefix(string(pdf), "%PDF") {
		t.Errorf("printed %.20q", pdf)
	}
	overlaps, err := p.Overlaps()
	none("overlaps", overlaps, err)
	wider, err := p.Wider()
	none("wider", wider, err)
	problems, err := p.Problems()
	none("problems", problems, err)
	Accessible(t, p)
}

func bad(t *testing.T, b *Browser) {
	p := open(t, b, "bad.html", Phone)
	require.NoError(t, p.Wait(`document.readyState === "complete"`))
	problems := must[[]string](t)(p.Problems())
	for _, want := range []string{"console.error: an error 1", "console.warning: a warning", "exception: Error: an exception",
		"request: http://example.com/picture.png", "other.png", "dialog: a dialog"} {
		if !slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not among the problems %q", want, problems)
		}
	}
	if slices.ContainsFunc(problems, func(s string) bool { return strings.Contains(s, "no fault") }) {
		t.Errorf("a line on the console is a problem: %q", problems)
	}
	if look := must[seen.Look](t)(p.Look("#flat")); look.Drawn() {
		t.Errorf("an empty canvas counts as drawn: %+v", look)
	}
	if look := must[seen.Look](t)(p.Look("#faint")); look.Drawn() {
		t.Errorf("a line of text counts as drawn: %+v", look)
	}
	if err := p.Click("#under"); err == nil || !strings.Contains(err.Error(), "would hit") {
		t.Errorf("clicking what lies under another: %v", err)
	}
	if _, err := p.Look("#nothing"); err == nil {
		t.Error("an element that is not there has a look")
	}
	walk := must[Walk](t)(p.Walk())
	for what, list := range map[string][]string{"unseen": walk.Unseen, "missed": walk.Missed, "under": walk.Covered} {
		if !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, "#"+what) }) {
			t.Errorf("#%s is not found: %+v", what, walk)
		}
	}
	overlaps := must[[]string](t)(p.Overlaps())
	if !slices.ContainsFunc(overlaps, func(s string) bool { return strings.Contains(s, "on these words") }) {
		t.Errorf("overlaps: %q", overlaps)
	}
	if wider := must[[]string](t)(p.Wider()); len(wider) < 2 || !strings.Contains(wider[1], "wide") {
		t.Errorf("wider: %q", wider)
	}
	t.Run("axe-core", func(t *testing.T) {
		all, err := p.axe()
		if seen.Excused(err, os.Getenv("CI")) {
			t.Skip(err)
		}
		found := strings.Join(must[[]string](t)(all, err), "\n")
		for _, want := range []string{"color-contrast", "html-has-lang"} {
			if !strings.Contains(found, want) {
				t.Errorf("axe-core does not find %s:\n%s", want, found)
			}
		}
	})
}

func options(t *testing.T, b *Browser) {
	background := `getComputedStyle(document.body).backgroundColor`
	dark := open(t, b, "good.html", Options{Dark: true})
	if got := must[string](t)(Eval[string](dark, background)); got != "rgb(17, 17, 17)" {
		t.Errorf("in the dark the page is %s", got)
	}
	plain := open(t, b, "good.html", Options{NoScript: true})
	if got := must[string](t)(Eval[string](plain, `document.querySelector("#words").textContent`)); got != "Before the script." {
		t.Errorf("without scripts the page says %q", got)
	}
	if look := must[seen.Look](t)(plain.Look("main")); look.Coloured > 0.01 {
		t.Errorf("without scripts something is drawn: %+v", look)
	}
	before := open(t, b, "good.html", Options{Before: `globalThis.early = document.readyState`})
	if got := must[string](t)(Eval[string](before, "early")); got != "loading" {
		t.Errorf("the script before the page's own saw it %s", got)
	}
}
