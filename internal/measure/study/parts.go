package study

import (
	"fmt"
	"slices"

	"plimsoll/internal/common/yamlfile"
)

// parts gives the study's parts; its own workloads and environments, where it
// has no parts, are one without a name.
func (doc *document) parts() []part {
	if doc.Parts != nil {
		return doc.Parts
	}
	return []part{{Workloads: doc.Workloads, Environments: doc.Environments}}
}

func partNames(parts []part) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p.Name.Text
	}
	return out
}

// wholeParts demands that a study has either form, and each part a name of its
// own.
func (c *checker) wholeParts(doc *document) {
	const expected = "one of both: workloads and environments stand in the parts"
	if len(doc.Workloads) > 0 {
		c.Add(doc.Workloads[0].at, "the study has both parts and workloads", expected)
	}
	if len(doc.Environments) > 0 {
		c.Add(doc.Environments[0].at, "the study has both parts and environments", expected)
	}
	seen := map[string]yamlfile.Pos{}
	for _, p := range doc.Parts {
		if before, ok := seen[p.Name.Text]; ok {
			c.Add(p.Name.At, fmt.Sprintf("part %s occurs twice (first in line %d)", p.Name.Text, before.Line), "a name of its own for each")
		}
		seen[p.Name.Text] = p.Name.At
	}
	if !slices.ContainsFunc(doc.Parts, func(p part) bool { return p.skipped == "" }) {
		c.Add(doc.Parts[0].at, "every part is skipped", "at least one that is not")
	}
}

func (c *checker) part(d part) Part {
	out := Part{Name: d.Name.Text, Title: d.Title.Text, Blocks: int(d.Blocks.N), Unwarmed: d.Warmup.At.Given() && !d.Warmup.On, Skipped: d.skipped, Limits: d.Limits.levels()}
	d.Workloads, d.Environments = c.otherWorkloads(d.Workloads), c.otherEngines(d.Environments)
	for _, w := range d.Workloads {
		out.Workloads = append(out.Workloads, c.workload(w))
	}
	c.twice(d.Workloads)
	limits := c.doc.Protocol.Limits.under(d.Limits)
	for _, e := range d.Environments {
		out.Environments = append(out.Environments, c.entry(e))
		c.oneLimit(e, limits)
	}
	return out
}

// defaultBlocks are a protocol's that gives none.
const defaultBlocks = 10

// enoughBlocks demands that a part's trials have so many blocks to be in as they
// are given. Who lays fewer blocks over a study of somebody else's means at most
// these, and so does the command line.
func enoughBlocks(p *yamlfile.Problems, part string, blocks yamlfile.Count, of protocol) {
	most := int64(defaultBlocks)
	if of.Blocks.At.Given() {
		most = of.Blocks.N
	}
	open := of.Until.fraction > 0 || of.TimeBudget.At.Given()
	if blocks.N <= most || open || of.Blocks.At.Given() && of.Blocks.At.Path != blocks.At.Path {
		return
	}
	p.Add(blocks.At, fmt.Sprintf("part %s has %d blocks, and the protocol %d", part, blocks.N, most),
		"at most the protocol's: a part's trials are in the first of them; give the protocol more, and the other parts fewer")
}

// at lays a scale over the study; nil where the scale itself is wrong.
func (doc *document) at(k yamlfile.KeyedEntry[scale], p *yamlfile.Problems) *document {
	out, sc := *doc, k.Value
	before := p.Count()
	if !yamlfile.IsName(k.Key.Text) {
		p.Add(k.Key.At, "the scale is called "+yamlfile.Quote(k.Key.Text), "a name: lower-case letters and digits, then also '.', '_', '-'")
	}
	put(&out.Title, sc.Title, sc.Title.At.Given())
	layProtocol(&out.Protocol, sc.Protocol)
	if doc.Parts != nil {
		if sc.Workloads != nil || sc.Environments != nil {
			p.Add(k.Key.At, fmt.Sprintf("scale %s has workloads or environments of its own, and the study has parts", k.Key.Text), "parts: {"+doc.Parts[0].Name.Text+": {…}}")
		}
		out.Parts = slices.Clone(doc.Parts)
	} else {
		put(&out.Workloads, sc.Workloads, sc.Workloads != nil)
		put(&out.Environments, sc.Environments, sc.Environments != nil)
		if sc.Environments != nil {
			out.Published = publishedMatrix{} // another matrix than the published one
		}
	}
	for _, x := range sc.Parts {
		names := partNames(doc.Parts)
		i := slices.Index(names, x.Key.Text)
		if i < 0 {
			if doc.Parts == nil {
				p.Add(x.Key.At, "the scale names the part "+yamlfile.Quote(x.Key.Text)+", and the study has no parts", "workloads and environments")
			} else {
				p.Unknown(x.Key.At, "part", x.Key.Text, names)
			}
			continue
		}
		d, v := &out.Parts[i], x.Value
		d.skipped = v.Skip.Text
		put(&d.Blocks, v.Blocks, v.Blocks.At.Given())
		enoughBlocks(p, x.Key.Text, v.Blocks, out.Protocol)
		put(&d.Warmup, v.Warmup, v.Warmup.At.Given())
		put(&d.Workloads, v.Workloads, v.Workloads != nil)
		put(&d.Environments, v.Environments, v.Environments != nil)
		d.Limits = d.Limits.under(v.Limits)
		if of := doc.Published.Part.Text; (of == "" || of == x.Key.Text) && (v.Environments != nil || v.Skip.At.Given()) {
			out.Published = publishedMatrix{}
		}
	}
	if p.Count() > before {
		return nil
	}
	return &out
}
