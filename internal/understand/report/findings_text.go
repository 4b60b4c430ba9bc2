package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
)

// verdictStyles colour what asks for attention.
var verdictStyles = map[analyze.ClaimVerdict]string{analyze.ClaimContradicted: "warn", analyze.ClaimNotTested: "dim"}

func findingsText(w io.Writer, f *analyze.Findings, one *analyze.Finding, opts Options) error {
	p := newPage(w, opts)
	if one != nil {
		p.claim(one)
		return p.w.Flush()
	}
	p.findings(f, false)
	if len(f.Remarks) > 0 {
		p.blank()
		p.line("head", "Remarks")
		for _, m := range f.Remarks {
			p.text("", "   ", clean(m.Code)+". "+sentence(clean(m.Text)))
			if m.Advice != "" {
				p.text("dim", "   → ", clean(m.Advice))
			}
		}
	}
	for _, r := range f.Runs {
		p.blank()
		p.text("", "run      ", fmt.Sprintf("%s of %s, %s, %s", clean(r.ID), clean(r.Study), r.Started.UTC().Format("2006-01-02 15:04:05 MST"), Plural(r.Blocks, "block")))
		p.text("", "machine  ", clean(r.Machine))
	}
	return p.w.Flush()
}

// shownValues is how many published numbers stand in the table of all claims.
const shownValues = 4

// findings draws a row for each claim, with sentences below it.
func (p *page) findings(f *analyze.Findings, brief bool) {
	p.text("head", "", findingsTitle(f))
	ids, verdicts, numbers := len("claim"), len("verdict"), len("here")
	for i := range f.Claims {
		c := &f.Claims[i]
		ids, verdicts, numbers = max(ids, width(clean(c.ID))), max(verdicts, width(verdictOf(c))), max(numbers, width(hereOf(c)))
	}
	room := p.width - ids - verdicts - numbers - 3*gap
	row := func(id, verdict, here, published string) string {
		s := pad(id, ids, false) + "  " + pad(verdict, verdicts, false) + "  " + pad(here, numbers, false)
		if width(published) <= room {
			s += "  " + published
		}
		return cut(strings.TrimRight(s, " "), p.width)
	}
	p.blank()
	p.line("head", row("claim", "verdict", "here", "published"))
	for i := range f.Claims {
		c := &f.Claims[i]
		quote := quoted(c.Published, shownValues)
		p.line(verdictStyles[c.Verdict], row(clean(c.ID), verdictOf(c), hereOf(c), quote))
		said := lines(c, brief)
		p.text("", "   ", said[0])
		if quote != "" && width(quote) > room {
			p.text("", "   ", "published "+quote)
		}
		for _, l := range said[1:] {
			p.text("", "   ", l)
		}
	}
	p.blank()
	for _, l := range findingsLegend(f) {
		p.text("dim", "", l)
	}
}

// claim draws one claim with all of its pairs.
func (p *page) claim(c *analyze.Finding) {
	p.text("head", "", clean(c.ID)+": "+verdictOf(c))
	p.text("", "", prose(c.Says))
	p.blank()
	p.text("", "", prose(c.Reason))
	if len(c.Pairs) > 0 {
		p.pairs(c.Pairs)
		p.blank()
		p.text("dim", "", pairsLegend(c))
	}
	if c.Features != nil && len(c.Features.Differ) > 0 {
		p.blank()
		p.grid(featureGrid(c.Features))
	}
	p.lacks(c.Without)
	if len(c.Published) > 0 {
		p.blank()
		p.text("", "published  ", quoted(c.Published, len(c.Published)))
		p.text("dim", "           ", sourcesOf(c.Published))
	}
	if c.Why == "" {
		return
	}
	p.blank()
	p.text("", "Why?  ", prose(c.Why))
	for i := range c.Answers {
		a := &c.Answers[i]
		p.text("", "   → ", prose(a.Text))
		p.pairs(a.Pairs)
		p.lacks(a.Without)
	}
}

func (p *page) lacks(list []analyze.ClaimLack) {
	if len(list) == 0 {
		return
	}
	p.blank()
	p.line("head", "Not measured")
	for _, l := range list {
		p.text("", "   ", clean(l.What)+": "+sentence(clean(l.Reason)))
		if l.Fix != "" {
			p.text("dim", "   → ", clean(l.Fix))
		}
	}
}

// pairs draws a table for each subject.
func (p *page) pairs(pairs []analyze.ClaimPair) {
	for _, g := range pairGroups(pairs) {
		p.blank()
		p.text("head", "", g.title)
		t := g.grid
		if over, w := t.width()-p.width, t.widths(); over > 0 { // at the cost of the names
			for i := range t.rows {
				for k := range 2 {
					t.rows[i].cells[k] = cut(t.rows[i].cells[k], max(12, w[k]-(over+1)/2))
				}
			}
		}
		p.grid(t)
	}
}

type pairGroup struct {
	title string
	grid  *grid
}

// pairGroups gathers the pairs of one subject and one stated range.
func pairGroups(pairs []analyze.ClaimPair) []*pairGroup {
	var out []*pairGroup
	for i := range pairs {
		c := &pairs[i]
		title := clean(c.Subject()) + ", stated: " + clean(c.Range)
		k := slices.IndexFunc(out, func(g *pairGroup) bool { return g.title == title })
		if k < 0 {
			k = len(out)
			out = append(out, &pairGroup{title, &grid{cols: []col{{title: "A"}, {title: "over B"}, {title: "here"}, {title: "verdict"}, {title: "blocks", right: true}}}})
		}
		b := ""
		if c.B != nil {
			b = c.B.Env
		}
		out[k].grid.rows = append(out[k].grid.rows, row{cells: []string{clean(c.A.Env), clean(b), pairNumber(c), verdictWord(c.Verdict), fmt.Sprint(c.Blocks)}})
	}
	return out
}

// pairsLegend says what the numbers are, and in what the pairs differ besides.
func pairsLegend(c *analyze.Finding) string {
	s := "here: over blocks, with its 95 % interval."
	if c.Test != "" {
		s += fmt.Sprintf(" A pair contradicts the claim only where the %s test, corrected by Holm over %s, does too.", c.Test, Plural(len(c.Pairs), "pair"))
	}
	var also []string
	for _, p := range c.Pairs {
		for _, k := range p.Also {
			if k = clean(k); !slices.Contains(also, k) {
				also = append(also, k)
			}
		}
	}
	if len(also) > 0 {
		s += " Pairs differ in more than they are named for: " + strings.Join(also, ", ") + "."
	}
	return s
}

// featureGrid has a row for each cell that is not as published.
func featureGrid(f *analyze.FeatureClaim) *grid {
	g := &grid{cols: []col{{title: "feature"}, {title: "engine"}, {title: "here"}, {title: "published"}, {title: "why"}}}
	for _, d := range f.Differ {
		g.rows = append(g.rows, row{cells: []string{clean(d.Feature), clean(d.Engine), clean(d.Here), `"` + clean(d.Published) + `"`, clean(d.Why)}})
	}
	return g
}
