//go:build linux

package browsertest

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Click clicks an element's middle by the mouse. It fails where something else
// lies over it.
func (p *Page) Click(selector string) error {
	box, err := p.Box(selector)
	if err != nil {
		return err
	}
	type at struct {
		X, Y  float64
		Above string
	}
	where, err := Eval[at](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%s), x = %g - scrollX, y = %g - scrollY, hit = document.elementFromPoint(x, y);
		const ok = hit && (e.contains(hit) || hit.contains(e) || hit.closest("label")?.control === e);
		return {X: x, Y: y, Above: ok ? "" : (hit ? hit.outerHTML.slice(0, 120) : "nothing")};
	})()`, quoted(selector), box.X+box.Width/2, box.Y+box.Height/2))
	if err != nil {
		return err
	}
	if where.Above != "" {
		return fmt.Errorf("clicking %s would hit %s", selector, where.Above)
	}
	ctx, cancel := p.deadline()
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.MouseClickXY(where.X, where.Y)); err != nil {
		return fmt.Errorf("clicking %s: %w", selector, err)
	}
	return nil
}

// Press presses keys, as chromedp/kb names them.
func (p *Page) Press(keys string) error {
	ctx, cancel := p.deadline()
	defer cancel()
	return chromedp.Do(ctx, chromedp.KeyEvent(keys))
}

// File is what a page gave to save.
type File struct {
	Name string
	Data []byte
}

// Save clicks an element and gives the file that the page then saves.
func (p *Page) Save(selector string) (File, error) {
	dir, err := os.MkdirTemp("", "plimsoll-saved-")
	if err != nil {
		return File{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover below /tmp harms nobody
	ctx, cancel := p.deadline()
	defer cancel()
	begun := chromedp.BrowserEvents(ctx, browser.DownloadWillBegin)
	ended := chromedp.BrowserEvents(ctx, browser.DownloadProgress)
	_, err = chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: new(true),
		BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
	})
	if err != nil {
		return File{}, fmt.Errorf("allowing a download: %w", err)
	}
	if err := p.Click(selector); err != nil {
		return File{}, err
	}
	var f File
	var id string
	own := string(chromedp.FromContext(p.ctx).Target.TargetID) // a page's main frame has its name
	for e, err := range begun {
		if err != nil {
			return f, fmt.Errorf("%s saved nothing: %w", selector, err)
		}
		if string(e.FrameID) == own {
			f.Name, id = e.SuggestedFilename, e.GUID
			break
		}
	}
	for e, err := range ended {
		switch {
		case err != nil:
			return f, fmt.Errorf("saving %s: %w", f.Name, err)
		case e.GUID != id:
		case e.State == browser.DownloadProgressStateCanceled:
			return f, fmt.Errorf("saving %s was given up", f.Name)
		case e.State == browser.DownloadProgressStateCompleted:
			f.Data, err = os.ReadFile(filepath.Join(dir, id))
			return f, err
		}
	}
	return f, fmt.Errorf("saving %s never ended", f.Name)
}

// PDF prints the page on A4.
func (p *Page) PDF() ([]byte, error) {
	ctx, cancel := p.deadline()
	defer cancel()
	out, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{
		PaperWidth: 8.27, PaperHeight: 11.69, PreferCSSPageSize: new(true), PrintBackground: new(false)})
	if err != nil {
		return nil, fmt.Errorf("printing: %w", err)
	}
	return out.Data, nil
}
