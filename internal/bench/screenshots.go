package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/page/browsertest"
	"plimsoll/internal/record"
	"plimsoll/internal/view"
)

// A picture of the documentation may have so many bytes.
const pictureSize = 200 << 10

// pictures are taken of a report: a part of it by its selector, or the top.
var pictures = []struct{ name, selector string }{
	{"report", ""},
	{"ranking", "#chart-ranking"},
	{"phases", "#chart-phases"},
	{"distributions", "#chart-distributions"},
	{"heat-map", "#chart-heat"},
}

// screenshots writes the pictures of a real run's report into a folder, in light
// and dark colours.
func screenshots(ctx context.Context, args ...string) (err error) {
	if len(args) != 2 {
		return errors.New("screenshots RUN FOLDER: a run's directory, and where the pictures go")
	}
	run, folder := args[0], args[1]
	tmp, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	r, err := record.Open(run)
	if err != nil {
		return err
	}
	data, err := view.Build(r, view.Options{})
	if err != nil {
		return err
	}
	path := filepath.Join(tmp, "report.html")
	if _, err := writeReport(path, data); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	b, err := browsertest.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, dark := range []bool{false, true} {
		if err := shoot(b, path, folder, dark); err != nil {
			return err
		}
	}
	return nil
}

func shoot(b *browsertest.Browser, report, folder string, dark bool) error {
	p, err := b.Open(report, browsertest.Options{Width: 1200, Height: 800, Dark: dark})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Wait(`document.querySelector("#chart-ranking")?.dataset.drawn`); err != nil {
		return err
	}
	for _, pic := range pictures {
		data, err := take(p, pic.selector)
		if err != nil {
			return err
		}
		name := pic.name + ".png"
		if dark {
			name = pic.name + "-dark.png"
		}
		if data, err = smaller(data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(data) > pictureSize {
			return fmt.Errorf("%s has %d kB, more than %d: take it of a run with fewer environments", name, len(data)>>10, pictureSize>>10)
		}
		fmt.Printf("%-28s %4d kB\n", name, len(data)>>10)
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func take(p *browsertest.Page, selector string) ([]byte, error) {
	if selector == "" {
		return p.Clip(browsertest.Box{Width: 1200, Height: 800})
	}
	if err := p.Settle(); err != nil {
		return nil, err
	}
	box, err := p.Box(selector)
	if err != nil {
		return nil, err
	}
	if err := p.Wait(fmt.Sprintf(`document.querySelector(%q).dataset.drawn`, selector)); err != nil {
		return nil, err
	}
	const edge = 12
	return p.Clip(browsertest.Box{X: box.X - edge, Y: box.Y - edge, Width: box.Width + 2*edge, Height: box.Height + 2*edge})
}

// smaller writes a PNG with the 256 colours that are most of it; the others,
// shades at the edges of letters, become the nearest of them.
func smaller(data []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	bounds := img.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	order := func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	}
	var palette color.Palette
	place := map[color.RGBA]uint8{}
	for i, c := range slices.SortedFunc(maps.Keys(count), order) {
		if i < 256 {
			palette = append(palette, c)
		}
		place[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, place[at(x, y)])
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out)
	return b.Bytes(), err
}
