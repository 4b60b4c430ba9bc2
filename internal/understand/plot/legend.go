package plot

// key is an entry of a legend: a sample and its meaning.
type key struct {
	text string
	size float64 // of the sample
	draw func(s surface, b box)
}

const keyGap = 12.0

func (k key) width() float64 { return k.size + 4 + smallFace.width(k.text) + keyGap }

// wrapKeys puts keys into rows of a width.
func wrapKeys(keys []key, room float64) [][]key {
	var out [][]key
	x := 0.0
	for _, k := range keys {
		k.text = smallFace.fit(k.text, room-k.size-4)
		if len(out) == 0 || x+k.width()-keyGap > room {
			out = append(out, nil)
			x = 0
		}
		out[len(out)-1] = append(out[len(out)-1], k)
		x += k.width()
	}
	return out
}

func drawKeys(s surface, x, y float64, row []key) {
	for _, k := range row {
		k.draw(s, box{x, y, k.size, legendRow})
		s.text(point{x + k.size + 4, y + 9}, k.text, smallFace, left, false, black)
		x += k.width()
	}
}

// swatch is a key of a filled colour, shapeKey of a mark, lineKey of a line.
func swatch(text string, c ink) key {
	return key{text, 10, func(s surface, b box) { rect(s, box{b.x, b.y + 2, b.w, b.h - 4}, c) }}
}

func shapeKey(text string, l look) key {
	return key{text, 8, func(s surface, b box) {
		glyph(s, point{b.x + b.w/2, b.y + b.h/2 - 0.5}, 3, l.shape, l.ink, stroke{})
	}}
}

func lineKey(text string, l stroke) key {
	return key{text, 22, func(s surface, b box) {
		y := b.y + b.h/2
		line(s, b.x, y, b.x+b.w, y, l)
	}}
}
