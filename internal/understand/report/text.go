package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze"
)

// defaultWidth is that of a page when the terminal's is not known.
const defaultWidth = 100

// minWidth is the narrowest page; below it lines are cut.
const minWidth = 40

// page writes lines.
type page struct {
	w     *bufio.Writer
	opts  Options
	width int
}

// The styles, as ANSI sequences. Blue and orange are told apart with any kind of
// colour vision, these two are legible on black and on white, and nothing is
// said by colour alone.
var styles = map[string]string{"head": "\x1b[1m", "dim": "\x1b[2m", "warn": "\x1b[38;5;166m", "mark": "\x1b[38;5;33m"}

// always is the style of every cell of a column.
func always(style string) func(string) string { return func(string) string { return style } }

// unlessZero is the style of a number that should be 0.
func unlessZero(cell string) string {
	if cell == "0" || cell == "" {
		return ""
	}
	return "warn"
}

func (p *page) styled(style, s string) string {
	if p.opts.ASCII {
		s = ascii(s)
	}
	if code := styles[style]; code != "" && p.opts.Color && s != "" {
		return code + s + "\x1b[0m"
	}
	return s
}

func (p *page) line(style, s string) { fmt.Fprintln(p.w, p.styled(style, s)) }

func (p *page) blank() { fmt.Fprintln(p.w) }

func (p *page) text(style, lead, s string) {
	indent := strings.Repeat(" ", width(lead))
	for i, l := range wrap(s, p.width-width(lead), "") {
		if i == 0 {
			l = lead + l
		} else {
			l = indent + l
		}
		p.line(style, l)
	}
}

func (p *page) grid(g *grid) {
	for _, l := range g.lines(p.width, p.styled) {
		fmt.Fprintln(p.w, l)
	}
}

func newPage(w io.Writer, opts Options) *page {
	p := &page{w: bufio.NewWriter(w), opts: opts, width: opts.Width}
	if p.width <= 0 {
		p.width = defaultWidth
	}
	p.width = max(p.width, minWidth)
	return p
}

func writeText(w io.Writer, res *analyze.Result, opts Options) error {
	p := newPage(w, opts)
	rankings := rankingsOf(res, opts)
	groups, hidden := groupRemarks(res, rankings)

	p.text("head", "", headline(res))
	p.text("", "", protocol(res))
	if g, baseline := overview(res, rankings); g != nil {
		p.blank()
		p.line("head", "Overview")
		p.parts(g)
		p.text("dim", "", overviewLegend(baseline, res.Run.Delta))
	}
	for i, r := range rankings {
		p.ranking(r, res.Run.Delta)
		if i+1 == len(rankings) || rankings[i+1].work != r.work {
			p.phases(r, rankings)
			p.protocols(r.work)
		}
	}
	p.papers(res)
	if res.Findings != nil && opts.Metric == "" {
		p.blank()
		p.findings(res.Findings, true)
	}
	if res.Features != nil && opts.Metric == "" {
		p.blank()
		p.features(res.Features, false)
	}
	p.remarks(groups, hidden)
	p.excluded(res)
	p.environments(res)
	p.blank()
	p.verdict(res, opts.Metric)
	p.blank()
	p.text("", "machine  ", machine(res.Run.Host))
	p.text("", "run      ", when(res))
	if res.Run.Repeat != "" {
		p.text("", "repeat   ", clean(res.Run.Repeat))
	}
	return p.w.Flush()
}

// verdict stands at the end, which is what a terminal shows.
func (p *page) verdict(res *analyze.Result, metric string) {
	for i, s := range Verdict(res, metric) {
		lead, style := "         ", ""
		if i == 0 {
			lead, style = "verdict  ", "head"
		}
		p.text(style, lead, prose(s))
	}
}

func (p *page) ranking(r *ranking, delta float64) {
	m := r.table.Metric
	p.blank()
	title := clean(firstOf(r.work.Title, r.work.ID)) + ": " + clean(m.Title)
	if m.What != "" {
		title += ", " + clean(m.What)
	}
	p.text("head", "", title+"; "+better(m))
	p.blank()
	l, g := p.layout(r)
	d, beside := p.addPlot(r, g)
	p.grid(g)
	if !beside {
		d = p.plot(r)
	}
	p.blank()
	for _, s := range r.legend(delta) {
		p.text("dim", "", s)
	}
	if d != nil {
		p.text("dim", "", d.legend())
	}
	if lost := r.leftOut(l); lost != "" {
		p.text("dim", "", lost)
	}
	if s := r.more(l); len(s.rows) > 0 {
		p.blank()
		p.text("head", "", "More on "+clean(m.Title))
		p.parts(s)
		p.text("dim", "", r.moreLegend())
	}
}

// layout chooses the widest layout that the page has room for. Those for wide
// pages leave room for the picture too.
func (p *page) layout(r *ranking) (layout, *grid) {
	for _, l := range layouts[:len(layouts)-1] {
		g := r.grid(l)
		need := g.width()
		if l.picture && !p.opts.NoPlot {
			need += gap + roomyPlot
			if p.opts.Marks {
				need += gap + spreadCells
			}
		}
		if need <= p.width {
			return l, g
		}
	}
	l := layouts[len(layouts)-1]
	return l, r.grid(l)
}

// The cells of a picture: below roomyPlot it has none of the blocks beside it,
// and more than widePlot say nothing more.
const roomyPlot, widePlot = 24, 60

// picture puts the intervals, and where there is room and the terminal is able
// the blocks, into two columns of at most so many characters.
func (p *page) picture(r *ranking, room int) (cols []col, draw func(*analyze.Cell) []string, d *spread) {
	if s, ok := spreadFor(r.cells()); ok && p.opts.Marks && room-gap-spreadCells >= roomyPlot {
		room -= gap + spreadCells
		d = &s
	}
	a, ok := axisFor(r.cells(), room)
	if !ok {
		return nil, nil, nil
	}
	cols = []col{{title: a.ticks(r.unit), style: always("mark")}}
	if d == nil {
		return cols, func(c *analyze.Cell) []string { return []string{a.mark(c)} }, nil
	}
	cols[0].title = pad(cols[0].title, room, false)
	cols = append(cols, col{title: d.ticks(), style: always("mark")})
	return cols, func(c *analyze.Cell) []string { return []string{a.mark(c), d.draw(c)} }, d
}

// addPlot puts the picture at the right of the table where there is room.
func (p *page) addPlot(r *ranking, g *grid) (d *spread, done bool) {
	if p.opts.NoPlot {
		return nil, true
	}
	room := p.width - g.width() - gap
	most := widePlot
	if p.opts.Marks {
		most += gap + spreadCells
	}
	cols, draw, d := p.picture(r, min(room, most))
	if cols == nil {
		return nil, false
	}
	at := len(g.cols)
	g.cols = append(g.cols, cols...)
	for i, c := range r.cells() {
		for len(g.rows[i].cells) < at {
			g.rows[i].cells = append(g.rows[i].cells, "")
		}
		g.rows[i].cells = append(g.rows[i].cells, draw(c)...)
	}
	return d, true
}

// plot draws the picture below the table.
func (p *page) plot(r *ranking) *spread {
	names := 0
	for _, e := range r.order {
		names = max(names, width(clean(e)))
	}
	names = min(names, p.width/3)
	cols, draw, d := p.picture(r, p.width-names-gap)
	if cols == nil {
		return nil
	}
	g := &grid{cols: append([]col{{title: pad(r.unit.unit, names, true)}}, cols...)}
	for i, c := range r.cells() {
		if c.Median != nil {
			g.rows = append(g.rows, row{cells: append([]string{cut(clean(r.order[i]), names)}, draw(c)...)})
		}
	}
	p.blank()
	p.grid(g)
	return d
}

func (p *page) phases(r *ranking, shown []*ranking) {
	if g := ownMetrics(r, shown); len(g.cols) > 1 {
		p.blank()
		p.text("head", "", "Further metrics of "+clean(firstOf(r.work.Title, r.work.ID))+" (medians)")
		p.parts(g)
	}
	g := phases(r, shown)
	// How long a benchmark's container lived is how long the benchmark took.
	if len(g.cols) < 2 || r.work.Table("time") != nil {
		return
	}
	p.blank()
	p.text("head", "", "Phases of "+clean(firstOf(r.work.Title, r.work.ID))+" (medians)")
	p.parts(g)
	reasons, envs := whyMissing(r)
	for _, why := range reasons {
		p.text("dim", "", "n/a for "+clean(strings.Join(envs[why], ", "))+": "+sentence(clean(why)))
	}
}

// parts draws a grid that may be wider than the page.
func (p *page) parts(g *grid) {
	for i, part := range g.columns(p.width) {
		if i > 0 {
			p.blank()
		}
		p.grid(part)
	}
}

func (p *page) remarks(groups []*remarkGroup, hidden int) {
	if len(groups) == 0 && hidden == 0 {
		return
	}
	p.blank()
	p.line("head", "Remarks")
	for _, g := range groups {
		style := ""
		if g.level != "info" {
			style = "warn"
		}
		lead := fmt.Sprintf("%2d ", g.number)
		p.text(style, lead, g.code+". "+sentence(g.text()))
		if g.advice != "" {
			p.text("dim", "   → ", clean(g.advice))
		}
	}
	if hidden > 0 {
		p.text("dim", "   ", Plural(hidden, "further remark")+" on metrics that are not ranked here: see the format json.")
	}
}

func (p *page) excluded(res *analyze.Result) {
	if len(res.Excluded) == 0 {
		return
	}
	p.blank()
	p.line("head", "What could not run")
	for _, x := range excludedOf(res) {
		p.text("", "   ", x.names+": "+x.reason)
		if x.fix != "" {
			p.text("dim", "   → ", x.fix)
		}
	}
}

func (p *page) environments(res *analyze.Result) {
	var lines [][2]string
	names := 0
	for _, e := range res.Environments {
		if d := describe(e, short); d != "" {
			lines = append(lines, [2]string{clean(e.ID), d})
			names = max(names, width(clean(e.ID)))
		}
	}
	if len(lines) == 0 {
		return
	}
	p.blank()
	p.line("head", "What ran")
	names = min(names, p.width/3)
	for _, l := range lines {
		p.text("", pad(cut(l[0], names), names, false)+"  ", l[1])
	}
}
