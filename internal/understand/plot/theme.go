package plot

import (
	"fmt"
	"image/color"
	"strings"

	"plimsoll/internal/understand/view"
)

func rgb(hex uint32) color.NRGBA {
	return color.NRGBA{uint8(hex >> 16), uint8(hex >> 8), uint8(hex), 0xff}
}

func both(light, dark uint32) ink { return ink{rgb(light), rgb(dark), 1} }

// The inks of text and frame. Text has a contrast of at least 4.5 to its ground.
var (
	paper  = both(0xffffff, 0x0d1117)
	black  = both(0x1f2328, 0xe6edf3)
	muted  = both(0x59636e, 0x9da5ae)
	frame  = both(0x8c959f, 0x6e7681)
	grid   = both(0xe3e6ea, 0x272d36)
	stripe = both(0xf3f5f7, 0x161b22)
	failed = both(0xc0271d, 0xff7b72)
)

// palette is that of Okabe and Ito (2008), which the colour-blind tell apart,
// without its black. On light ground its yellow is darker, on dark ground its
// blue lighter, so that both are seen.
var palette = []ink{
	both(0x0072b2, 0x3d93d6), // blue
	both(0xd55e00, 0xe8741a), // vermillion
	both(0x009e73, 0x12b387), // bluish green
	both(0xe69f00, 0xe8a50d), // orange
	both(0xcc79a7, 0xd386b0), // reddish purple
	both(0x56b4e9, 0x86cdf5), // sky blue
	both(0xa89a00, 0xf0e442), // yellow
}

// look is how an environment is drawn: engines differ in colour, and where
// there are more engines than colours, in shape.
type look struct {
	ink
	shape int
	group int // among the groups; -1 is a baseline
}

// dashes tell lines of one engine apart.
var dashes = [][]float64{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {9, 3}, {3, 1.5, 1, 1.5, 1, 1.5}}

// looks has one for each of Envs. A baseline is black, whatever its engine.
func looks(d *view.Data) []look {
	out := make([]look, len(d.Envs))
	groups := map[string]int{}
	for i, e := range d.Envs {
		if e.Baseline != "" {
			out[i] = look{ink: black, group: -1}
			continue
		}
		g, ok := groups[e.Group]
		if !ok {
			g = len(groups)
			groups[e.Group] = g
		}
		out[i] = look{ink: palette[g%len(palette)], shape: g / len(palette), group: g}
	}
	return out
}

// lines are the strokes of some environments: those of one colour differ by
// their dashes.
func lines(l []look, envs []int) map[int]stroke {
	out, members := map[int]stroke{}, map[ink]int{}
	for _, e := range envs {
		c := l[e].ink
		out[e] = stroke{ink: c, width: 1.4, dash: dashes[members[c]%len(dashes)]}
		members[c]++
	}
	return out
}

// styleOf turns the light colours of a picture into the dark ones. Rules go
// before attributes, so the colours stand in the attributes alone.
func styleOf(inks []ink) string {
	var b strings.Builder
	for _, i := range inks {
		l, d := hex(i.light), hex(i.dark)
		fmt.Fprintf(&b, "svg.plimsoll [fill=%q]{fill:%s}svg.plimsoll [stroke=%q]{stroke:%s}", l, d, l, d)
	}
	return b.String()
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
