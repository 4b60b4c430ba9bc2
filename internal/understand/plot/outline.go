package plot

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/vg"
)

// outline is a text that is read upwards, as a path: a raster canvas would turn
// the pixels of its glyphs, and blur them.
func (v *vector) outline(at point, s string, f face) vg.Path {
	var path vg.Path
	var buf sfnt.Buffer
	ff := f.font()
	em := ff.Face.UnitsPerEm()
	scale := f.size / float64(em)
	x := 0.0
	to := func(p fixed.Point26_6) vg.Point {
		return v.pt(point{at.x + float64(p.Y)*scale, at.y - x - float64(p.X)*scale})
	}
	for _, r := range s {
		i, err := ff.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		segments, err := ff.Face.LoadGlyph(&buf, i, fixed.Int26_6(em), nil)
		if err != nil {
			continue // a glyph in colours has no outline
		}
		for k, g := range segments {
			switch g.Op {
			case sfnt.SegmentOpMoveTo:
				if k > 0 {
					path.Close()
				}
				path.Move(to(g.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(to(g.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(to(g.Args[0]), to(g.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(to(g.Args[0]), to(g.Args[1]), to(g.Args[2]))
			}
		}
		if len(segments) > 0 {
			path.Close()
		}
		x += f.width(string(r))
	}
	return path
}
