// Package seen judges what browsertest sees in a browser, without one: pictures of a
// page, and whether axe-core may be missing.
package seen

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
)

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
