package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
)

// svg writes elements with their looks in attributes, so that a page may embed
// it under a strict content security policy. A library's canvas has no groups,
// no titles and no anchors of text, and mirrors every text.
type svg struct {
	b    bytes.Buffer
	dark bool
	used map[ink]bool
	inks []ink
}

// writeSVG writes a picture. Text is text, in the reader's own fonts.
func (p *picture) writeSVG(w io.Writer, o Options) error {
	s := &svg{dark: o.Dark, used: map[ink]bool{}}
	p.draw(s)
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" class="plimsoll" role="img" viewBox="0 0 %s %s" width="%spt" height="%spt" font-family="'Liberation Sans', Arimo, Arial, Helvetica, sans-serif">`+"\n",
		num(p.w), num(p.h), num(p.w), num(p.h))
	fmt.Fprintf(&out, "<title>%s</title>\n<desc>%s</desc>\n", escape(p.title), strings.ReplaceAll(escape(p.describe()), "&#xA;", "\n"))
	if !o.Dark {
		fmt.Fprintf(&out, "<style>@media (prefers-color-scheme: dark) {%s}</style>\n", styleOf(s.inks))
	}
	out.Write(s.b.Bytes())
	out.WriteString("</svg>\n")
	_, err := w.Write(out.Bytes())
	return err
}

// num writes a length with two decimals at most.
func num(v float64) string {
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes all
	return b.String()
}

// colour is an attribute for an ink, and its opacity.
func (s *svg) colour(name string, i ink) string {
	if i.none() {
		return ` ` + name + `="none"`
	}
	k := i.thin(1)
	if !s.used[k] && i.light != i.dark {
		s.used[k] = true
		s.inks = append(s.inks, k)
	}
	c := i.on(s.dark)
	out := fmt.Sprintf(` %s="%s"`, name, hex(c))
	if i.alpha < 1 {
		out += fmt.Sprintf(` %s-opacity="%s"`, name, num(i.alpha))
	}
	return out
}

func (s *svg) stroke(l stroke) string {
	if l.none() || l.width == 0 {
		return ""
	}
	out := s.colour("stroke", l.ink) + fmt.Sprintf(` stroke-width="%s"`, num(l.width))
	if len(l.dash) > 0 {
		out += fmt.Sprintf(` stroke-dasharray="%s"`, strings.Join(lists.Map(l.dash, num), " "))
	}
	return out
}

func (s *svg) poly(p []point, closed bool, fill ink, l stroke) {
	if len(p) == 0 {
		return
	}
	look := s.colour("fill", fill) + s.stroke(l)
	if len(p) == 2 && !closed {
		fmt.Fprintf(&s.b, `<line x1="%s" y1="%s" x2="%s" y2="%s"%s/>`+"\n", num(p[0].x), num(p[0].y), num(p[1].x), num(p[1].y), s.stroke(l))
		return
	}
	if closed && len(p) == 4 && p[0].y == p[1].y && p[1].x == p[2].x && p[2].y == p[3].y && p[3].x == p[0].x {
		fmt.Fprintf(&s.b, `<rect x="%s" y="%s" width="%s" height="%s"%s/>`+"\n", num(p[0].x), num(p[0].y), num(p[1].x-p[0].x), num(p[2].y-p[1].y), look)
		return
	}
	name := "polyline"
	if closed {
		name = "polygon"
	}
	var b strings.Builder
	for i, q := range p {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(num(q.x) + "," + num(q.y))
	}
	fmt.Fprintf(&s.b, `<%s points="%s"%s/>`+"\n", name, b.String(), look)
}

func (s *svg) dot(at point, r float64, fill ink, l stroke) {
	fmt.Fprintf(&s.b, `<circle cx="%s" cy="%s" r="%s"%s%s/>`+"\n", num(at.x), num(at.y), num(r), s.colour("fill", fill), s.stroke(l))
}

func (s *svg) text(at point, t string, f face, a align, up bool, c ink) {
	if t == "" {
		return
	}
	more := ""
	if a != left {
		more = fmt.Sprintf(` text-anchor="%s"`, map[align]string{middle: "middle", right: "end"}[a])
	}
	if f.bold {
		more += ` font-weight="bold"`
	}
	// A reader without these fonts has others, which are wider or narrower.
	if w := f.width(t); w > 8 {
		more += fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, num(w))
	}
	if up {
		more += fmt.Sprintf(` transform="rotate(-90 %s %s)"`, num(at.x), num(at.y))
	}
	fmt.Fprintf(&s.b, `<text x="%s" y="%s" font-size="%s"%s%s>%s</text>`+"\n", num(at.x), num(at.y), num(f.size), s.colour("fill", c), more, escape(t))
}

func (s *svg) open(m mark) {
	fmt.Fprintf(&s.b, `<g class="%s"`, m.class)
	for _, d := range m.data {
		fmt.Fprintf(&s.b, ` data-%s="%s"`, d[0], escape(d[1]))
	}
	s.b.WriteString(">\n")
	if m.title != "" {
		fmt.Fprintf(&s.b, "<title>%s</title>\n", escape(m.title))
	}
}

func (s *svg) close() { s.b.WriteString("</g>\n") }
