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
	"os"
	"path/filepath"
	"slices"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/view"
)

// A picture of the documentation may have so many bytes.
const pictureSize = 200 << 10

// pictures are taken of a report: a part of it by its selector, or the top.
var pictures = []struct{ name, selector string }{
	{"report", ""},
	{"report-ranking", "#chart-ranking"},
	{"report-phases", "#chart-phases"},
	{"report-distributions", "#chart-distributions"},
	{"report-heat-map", "#chart-heat"},
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
	defer func() { err = errors.Join(err, safepath.RemoveAll(tmp)) }()
	path := filepath.Join(tmp, "report.html")
	if err := writeReport(path, run); err != nil {
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

// writeReport writes the page of a run.
func writeReport(path, run string) error {
	r, err := record.Open(run)
	if err != nil {
		return err
	}
	data, err := view.Build(r, view.Options{})
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(page.Write(f, data), f.Close())
}

func shoot(b *browsertest.Browser, report, folder string, dark bool) error {
	p, err := b.Open(report, browsertest.Options{Width: 1200, Height: 800, Dark: dark})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Wait(`document.body.dataset.shown`); err != nil {
		return err
	}
	for _, pic := range pictures {
		if there, err := browsertest.Eval[bool](p, fmt.Sprintf(`%q === "" || document.querySelector(%[1]q) !== null`, pic.selector)); err != nil {
			return err
		} else if !there {
			fmt.Printf("%-28s is not in this report\n", pic.name)
			continue
		}
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

// smaller writes a PNG with 256 colours instead of all shades at the edges of
// letters.
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
	colours := palette(count)
	place := map[color.RGBA]uint8{}
	for c := range count {
		place[c] = uint8(colours.Index(c))
	}
	out := image.NewPaletted(bounds, colours)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, place[at(x, y)])
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out)
	return b.Bytes(), err
}

// palette chooses 256 colours, one after the other: the one whose pixels are
// together the farthest from those that are chosen. So neither a frequent shade
// nor the colour of a small mark is lost.
func palette(count map[color.RGBA]int) color.Palette {
	type shade struct {
		color.RGBA
		n, far int
	}
	var shades []shade
	for c, n := range count {
		shades = append(shades, shade{c, n, 1 << 20})
	}
	slices.SortFunc(shades, func(a, b shade) int {
		return cmp.Or(cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B)) // the same each time
	})
	square := func(a, b uint8) int { d := int(a) - int(b); return d * d }
	var out color.Palette
	for len(out) < 256 {
		best := slices.MaxFunc(shades, func(a, b shade) int { return cmp.Compare(a.n*a.far, b.n*b.far) })
		if best.far == 0 {
			break
		}
		out = append(out, best.RGBA)
		for i, s := range shades {
			shades[i].far = min(s.far, square(s.R, best.R)+square(s.G, best.G)+square(s.B, best.B))
		}
	}
	return out
}
