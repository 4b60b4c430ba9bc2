package seen

import (
	"image"
	"image/color"
	"testing"
)

func TestLook(t *testing.T) {
	img := image.NewNRGBA(image.Rect(5, 5, 15, 15))
	for y := 5; y < 15; y++ {
		for x := 5; x < 15; x++ {
			img.Set(x, y, color.NRGBA{250, 250, 252, 255})
		}
	}
	if got, want := look(img), (Look{Colours: 1, Largest: 1}); got != want {
		t.Errorf("an empty area is %+v: expected %+v", got, want)
	}
	for i := range 10 {
		img.Set(5+i, 7, color.NRGBA{R: uint8(20 * i), G: 200, B: 10, A: 255})
	}
	if got, want := look(img), (Look{Colours: 11, Largest: 0.9, Coloured: 0.1}); got != want {
		t.Errorf("an area with a line of ten colours is %+v: expected %+v", got, want)
	}
}
