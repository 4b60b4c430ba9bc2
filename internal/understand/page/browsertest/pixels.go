//go:build linux

package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/png"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
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

// Look is what can be said of a picture without knowing what it shows.
type Look struct {
	Colours  int     // how many there are
	Largest  float64 // share of the area that has the commonest
	Coloured float64 // share of the area that is not grey
}

// Drawn says whether it shows more than an empty area or a line of text.
func (l Look) Drawn() bool {
	return l.Colours > 20 && l.Largest < 0.995 && l.Coloured > 0.0005
}

// Look tells of an element as it is drawn.
func (p *Page) Look(selector string) (Look, error) {
	data, err := p.Picture(selector)
	if err != nil {
		return Look{}, err
	}
	return LookAt(data)
}

// LookAt tells of a PNG.
func LookAt(data []byte) (Look, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return Look{}, err
	}
	return look(img), nil
}

func look(img image.Image) Look {
	b := img.Bounds()
	flat := image.NewRGBA(b)
	draw.Draw(flat, b, img, b.Min, draw.Src)
	type rgb [3]uint8
	count := map[rgb]int{}
	for i := 0; i < len(flat.Pix); {
		c, n := rgb(flat.Pix[i:i+3]), 0
		for ; i < len(flat.Pix) && rgb(flat.Pix[i:i+3]) == c; i += 4 { // most neighbours are alike
			n++
		}
		count[c] += n
	}
	var most, coloured int
	for c, n := range count {
		most = max(most, n)
		// 48 of 256: the greys of a theme are tinted.
		if int(max(c[0], c[1], c[2]))-int(min(c[0], c[1], c[2])) > 48 {
			coloured += n
		}
	}
	area := float64(max(1, b.Dx()*b.Dy()))
	return Look{Colours: len(count), Largest: float64(most) / area, Coloured: float64(coloured) / area}
}
