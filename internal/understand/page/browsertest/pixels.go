//go:build linux

package browsertest

import (
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plimsoll/internal/understand/page/browsertest/seen"
)

func awaited(p *runtime.EvaluateParams) { p.AwaitPromise = new(true) }

// quoted is a string as JavaScript writes it.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always can
	}
	return string(text)
}

// Box is a rectangle in CSS pixels of the whole document.
type Box struct{ X, Y, Width, Height float64 }

// Box brings an element into view and gives where it is.
func (p *Page) Box(selector string) (Box, error) {
	box, err := Eval[*Box](p, `(async () => {
		const e = document.querySelector(`+quoted(selector)+`);
		if (!e) return null;
		e.scrollIntoView({block: "center", behavior: "instant"});
		await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
		const r = e.getBoundingClientRect();
		return {X: r.x + scrollX, Y: r.y + scrollY, Width: r.width, Height: r.height};
	})()`)
	if err != nil {
		return Box{}, err
	}
	if box == nil {
		return Box{}, fmt.Errorf("the page has no %s", selector)
	}
	if box.Width < 1 || box.Height < 1 {
		return *box, fmt.Errorf("%s is %.0f × %.0f pixels", selector, box.Width, box.Height)
	}
	return *box, nil
}

// Picture is an element as PNG.
func (p *Page) Picture(selector string) ([]byte, error) {
	box, err := p.Box(selector)
	if err != nil {
		return nil, err
	}
	return p.Clip(box)
}

// Clip is a part of the document as PNG, whether it is in the window or not.
func (p *Page) Clip(b Box) ([]byte, error) {
	ctx, cancel := p.deadline()
	defer cancel()
	shot, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Format:                page.CaptureScreenshotFormatPng,
		Clip:                  &page.Viewport{X: b.X, Y: b.Y, Width: b.Width, Height: b.Height, Scale: 1},
		CaptureBeyondViewport: new(true),
	})
	if err != nil {
		return nil, fmt.Errorf("taking a picture: %w", err)
	}
	return shot.Data, nil
}

// Look tells of an element as it is drawn.
func (p *Page) Look(selector string) (seen.Look, error) {
	data, err := p.Picture(selector)
	if err != nil {
		return seen.Look{}, err
	}
	return seen.LookAt(data)
}
