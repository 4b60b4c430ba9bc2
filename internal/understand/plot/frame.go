package plot

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// picture is a chart, ready to be put into its frame: title, sub-line, legend,
// body, notes.
type picture struct {
	name, title string
	sub         []string // what the chart is about, then machine, date and n
	legend      []key
	notes       []string // how to read it
	desc        []string // what it shows, for who does not see it
	height      float64  // of the body, at least
	minWidth    float64  // of all
	body        func(s surface, b box)

	date time.Time
	w, h float64
	rows frameRows
}

const (
	margin    = 14.0
	legendRow = 13.0
	noteRow   = 10.5
)

// frameRows are the lines of the frame, broken for the width.
type frameRows struct {
	title, sub, notes []string
	legend            [][]key
}

// of says which run it is: the machine, the date, how much was measured.
func (p *picture) of(r *analyze.RunInfo) {
	p.date = r.Started
	h := r.Host
	var parts []string
	if cpu := words.Clean(h.CPU); cpu != "" {
		if h.CPUs > 0 {
			cpu = fmt.Sprintf("%d × %s", h.CPUs, cpu)
		}
		parts = append(parts, cpu)
	}
	if k := words.Clean(h.Kernel); k != "" {
		parts = append(parts, "kernel "+k)
	}
	if len(parts) == 0 {
		parts = append(parts, "machine unknown")
	}
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.UTC().Format("2006-01-02"))
	}
	n := fmt.Sprintf("%s, %s", words.Plural(r.Blocks, "block"), words.Plural(r.Trials, "trial"))
	if r.Failed > 0 {
		n += fmt.Sprintf(", %d failed", r.Failed)
	}
	parts = append(parts, n)
	if s := words.Clean(r.Study); s != "" {
		if r.Scale != "" {
			s += " (" + words.Clean(r.Scale) + " scale)"
		}
		parts = append(parts, "study "+s)
	}
	p.sub = append(p.sub, strings.Join(parts, " · "))
	if r.Status != "" && r.Status != "done" {
		p.sub = append(p.sub, "This run is "+words.Clean(r.Status)+": it is not whole.")
	}
}

// layOut breaks the lines and finds the height.
func (p *picture) layOut(o Options) {
	p.w = max(o.Width, p.minWidth)
	room := p.w - 2*margin
	p.rows = frameRows{title: titleFace.wrap(p.title, room)}
	for _, s := range p.sub {
		p.rows.sub = append(p.rows.sub, smallFace.wrap(s, room)...)
	}
	for _, s := range p.notes {
		p.rows.notes = append(p.rows.notes, smallFace.wrap(s, room)...)
	}
	p.rows.legend = wrapKeys(p.legend, room)
	rest := p.bodyTop() + p.foot()
	p.height = max(p.height, o.Height-rest)
	p.h = rest + p.height
}

func (p *picture) bodyTop() float64 {
	y := margin + 15*float64(len(p.rows.title)) + 11*float64(len(p.rows.sub)) + 6
	if n := len(p.rows.legend); n > 0 {
		y += legendRow*float64(n) + 4
	}
	return y
}

func (p *picture) foot() float64 {
	if len(p.rows.notes) == 0 {
		return margin - 4
	}
	return margin - 2 + 6 + noteRow*float64(len(p.rows.notes))
}

// draw puts all on the surface.
func (p *picture) draw(s surface) {
	rect(s, box{0, 0, p.w, p.h}, paper)
	y := margin
	for _, l := range p.rows.title {
		s.text(point{margin, y + 10}, l, titleFace, left, false, black)
		y += 15
	}
	for _, l := range p.rows.sub {
		s.text(point{margin, y + 8}, l, smallFace, left, false, muted)
		y += 11
	}
	y += 6
	for _, row := range p.rows.legend {
		drawKeys(s, margin, y, row)
		y += legendRow
	}
	top := p.bodyTop()
	p.body(s, box{margin, top, p.w - 2*margin, p.height})
	y = top + p.height + 6
	for _, l := range p.rows.notes {
		s.text(point{margin, y + 8}, l, smallFace, left, false, muted)
		y += noteRow
	}
}

// describe is the picture in words.
func (p *picture) describe() string {
	const most = 80
	lines := slices.Clone(p.desc)
	if n := len(lines); n > most {
		lines = append(lines[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(slices.Concat(p.sub, lines, p.notes), "\n")
}
