package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/analyze"
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

// The styles, as ANSI sequences.
var styles = map[string]string{"head": "\x1b[1m", "dim": "\x1b[2m", "warn": "\x1b[33m"}

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
	p.remarks(groups, hidden)
	p.excluded(res)
	p.environments(res)
	p.blank()
	p.text("", "machine  ", machine(res.Run.Host))
	p.text("", "run      ", when(res))
	if res.Run.Repeat != "" {
		p.text("", "repeat   ", clean(res.Run.Repeat))
	}
	return p.w.Flush()
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
	var l layout
	var g *grid
	for _, l = range layouts {
		if g = r.grid(l); g.width() <= p.width {
			break
		}
	}
	inline := p.addPlot(r, g)
	p.grid(g)
	if !inline {
		p.plot(r)
	}
	p.blank()
	for _, l := range r.legend(delta) {
		p.text("dim", "", l)
	}
	if s := r.more(l); len(s.rows) > 0 {
		p.blank()
		p.text("head", "", "More on "+clean(m.Title))
		p.parts(s)
		p.text("dim", "", r.moreLegend())
	}
}

// addPlot puts the picture at the right of the table where there is room.
func (p *page) addPlot(r *ranking, g *grid) bool {
	if p.opts.NoPlot {
		return true
	}
	a, ok := axisFor(r.cells(), min(p.width-g.width()-gap, 40))
	if !ok {
		return false
	}
	// Before the remarks' numbers it would be in the way of the eye.
	g.cols = append(g.cols, col{title: a.ticks(r.unit)})
	for i, c := range r.cells() {
		for len(g.rows[i].cells) < len(g.cols)-1 {
			g.rows[i].cells = append(g.rows[i].cells, "")
		}
		g.rows[i].cells = append(g.rows[i].cells, a.mark(c))
	}
	return true
}

// plot draws the picture below the table.
func (p *page) plot(r *ranking) {
	names := 0
	for _, e := range r.order {
		names = max(names, width(clean(e)))
	}
	names = min(names, p.width/3)
	a, ok := axisFor(r.cells(), p.width-names-gap)
	if !ok {
		return
	}
	g := &grid{cols: []col{{title: pad(r.unit.unit, names, true)}, {title: a.ticks(r.unit)}}}
	for i, c := range r.cells() {
		if c.Median != nil {
			g.rows = append(g.rows, row{cells: []string{cut(clean(r.order[i]), names), a.mark(c)}})
		}
	}
	p.blank()
	p.grid(g)
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
		p.text("dim", "   ", plural(hidden, "further remark")+" on metrics that are not ranked here: see the format json.")
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
