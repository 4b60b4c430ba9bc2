package plot

import (
	"image/color"
	"math"
)

// luminance is the relative luminance of WCAG 2, 0 black to 1 white.
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

// blend goes from a to b.
func blend(a, b color.NRGBA, t float64) color.NRGBA {
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// The ends and the middle of the diverging scale: blue is better, orange worse.
var (
	bestEnd  = rgb(0x0a5c99)
	neutral  = rgb(0xf4f4f2)
	worstEnd = rgb(0xb34a00)
)

// diverging colours an overhead: 0 is neutral, -1 and below the one end, 1 the
// other. The root makes small overheads seen beside large ones.
func diverging(v float64) ink {
	t := math.Sqrt(math.Min(math.Abs(v), 1))
	c := blend(neutral, worstEnd, t)
	if v < 0 {
		c = blend(neutral, bestEnd, t)
	}
	return ink{c, c, 1}
}

// onColour is black or white, whichever reads better, and stays so on dark ground.
func onColour(c ink) ink {
	if luminance(c.light) < 0.18 {
		return both(0xfffffe, 0xfffffe)
	}
	return both(0x111418, 0x111418)
}
