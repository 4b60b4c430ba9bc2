package plot

import (
	"strings"
	"sync"
	"unicode/utf8"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"

	"plimsoll/internal/understand/words"
)

// face is a size in points, and whether it is bold.
type face struct {
	size float64
	bold bool
}

var (
	titleFace = face{12, true}
	nameFace  = face{9, false}
	boldFace  = face{9, true}
	smallFace = face{8, false}
	tinyFace  = face{7, false}
)

// fonts are Liberation Sans, as wide as Arial and Helvetica, so that a reader
// without it sees the same.
var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

func (f face) font() font.Face {
	d := font.Font{Typeface: "Liberation", Variant: "Sans"}
	if f.bold {
		d.Weight = stdfont.WeightBold
	}
	return fonts().Lookup(d, font.Points(f.size))
}

// width of a text, in points.
func (f face) width(s string) float64 {
	ff := f.font()
	return ff.Width(s).Points()
}

// fit shortens a name in its middle until it has room.
func (f face) fit(s string, room float64) string {
	return shorten(s, func(n int) string { return words.Shorten(s, n) }, func(t string) bool { return f.width(t) <= room })
}

// fitEnd shortens a sentence at its end.
func (f face) fitEnd(s string, room float64) string {
	return shorten(s, func(n int) string { return strings.TrimRight(string([]rune(s)[:max(n-1, 0)]), " ,;:") + "…" },
		func(t string) bool { return f.width(t) <= room })
}

// shorten finds the longest that fits, by halving.
func shorten(s string, to func(int) string, fits func(string) bool) string {
	if fits(s) {
		return s
	}
	lo, hi := 2, utf8.RuneCountInString(s)
	for lo+1 < hi {
		if m := (lo + hi) / 2; fits(to(m)) {
			lo = m
		} else {
			hi = m
		}
	}
	return to(min(lo, hi))
}

// wrap breaks a text into lines of at most room points.
func (f face) wrap(s string, room float64) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && f.width(line+" "+word) <= room {
			line += " " + word
			continue
		}
		if line != "" {
			out = append(out, line)
		}
		line = f.fit(word, room)
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
