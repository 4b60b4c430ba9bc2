//go:build linux

package browsertest

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/chromedp/chromedp/kb"

	"plimsoll/internal/understand/page/browsertest/seen"
)

//go:embed js/keyboard.js
var keyboard string

//go:embed js/layout.js
var layout string

// axeSource is axe-core as npm installed it beside this package.
var axeSource = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return seen.Axe(dir)
})

// axe gives what axe-core finds against WCAG 2.2, levels A and AA.
func (p *Page) axe() ([]string, error) {
	source, err := axeSource()
	if err != nil {
		return nil, err
	}
	if _, err := Eval[bool](p, source+"\n;true"); err != nil {
		return nil, fmt.Errorf("loading axe-core: %w", err)
	}
	return Eval[[]string](p, `axe.run(document, {
		runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
		resultTypes: ["violations"],
	}).then(found => found.violations.flatMap(v => v.nodes.map(n =>
		v.id + " (" + v.impact + ") " + n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " "))))`)
}

// Walk is a walk through a page by the Tab key.
type Walk struct {
	Stops   []string // what had the focus, in order
	Missed  []string // can be used, and never had it
	Unseen  []string // had it and did not show it
	Covered []string // had it and was out of sight
}

// Walk goes through the whole page by the Tab key, from its beginning.
func (p *Page) Walk() (Walk, error) {
	n, err := Eval[int](p, keyboard+"\n;plimsollKeyboard.start()")
	if err != nil {
		return Walk{}, err
	}
	for range n + 2 {
		if err := p.Press(kb.Tab); err != nil {
			return Walk{}, err
		}
	}
	if err := p.Settle(); err != nil {
		return Walk{}, err
	}
	return Eval[Walk](p, "plimsollKeyboard.end()")
}

// Overlaps names texts that lie on other texts.
func (p *Page) Overlaps() ([]string, error) {
	return Eval[[]string](p, layout+".overlaps()")
}

// Wider names what makes the page wider than its window; nothing where it is not.
func (p *Page) Wider() ([]string, error) {
	return Eval[[]string](p, layout+".wider()")
}
