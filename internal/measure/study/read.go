package study

import (
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
)

// format is the format of a study.
var format = yamlfile.Format{
	Noun: "study", Plural: "studies", Key: "plimsoll", Version: 1,
	Instead: `; "common" and "extends" save repetition`,
}

// Read reads a study, with all that it extends, and checks it against the
// catalogue. The error is an *Errors.
func Read(src Source, cat *Catalogue) (*Study, error) {
	p := &yamlfile.Problems{}
	doc, texts := readDocument(src, cat, p, nil)
	if doc == nil {
		return nil, p.Err()
	}
	s := check(doc, src, cat, p, yamlfile.Pos{Path: src.Path, Line: 1, Column: 1})
	if p.Any() {
		return nil, p.Err()
	}
	for _, s := range append([]*Study{s}, s.Scales...) {
		if src.dir != "" {
			s.Path = src.Path // a bundled study goes by its name
		}
		s.Source = strings.Join(texts, "")
		if err := standIns(s.Claims, cat); err != nil {
			return nil, err
		}
		if err := notes(s.Tables, cat); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// readDocument reads one file and lays it over the one that it extends. The
// texts are those of all files, the first one first.
func readDocument(src Source, cat *Catalogue, p *yamlfile.Problems, before []string) (*document, []string) {
	d := &yamlfile.Decoder{Path: src.Path, Problems: p, Rest: cat.Factors, References: imageFactor, Joined: joinedFactors, Sizes: memoryFactor}
	doc := &document{}
	if format.Decode(d, src.Data, doc, "the study") == nil {
		return nil, nil
	}
	for i := range doc.Tables { // whatever extends this study
		if t := &doc.Tables[i]; !t.Source.At.Given() {
			t.Source.Text = doc.Name.Text
		}
	}
	doc.Claims.follow(&src, cat, p)
	texts := []string{string(src.Data)}
	if !doc.Extends.At.Given() {
		return doc, texts
	}
	before = append(before, src.Path)
	parent, ok := src.parent(doc.Extends, p)
	switch {
	case !ok:
		return doc, texts
	case slices.Contains(before, parent.Path):
		p.Add(doc.Extends.At, "the studies extend each other in a circle: "+strings.Join(append(before, parent.Path), " → "), "a chain that ends")
		return doc, texts
	case len(before) > maxExtends:
		p.Add(doc.Extends.At, "too many studies extend each other", "a chain of at most 8")
		return doc, texts
	}
	base, more := readDocument(parent, cat, p, before)
	if base == nil {
		return doc, texts
	}
	texts = append(texts, "\n# extends "+parent.Path+"\n")
	return overlay(base, doc), append(texts, more...)
}

// overlay lays what a study says over what it extends: a key that is given
// replaces the other's, limits and protocol key by key; common likewise;
// exclusions add up, since what is impossible stays so.
func overlay(base, over *document) *document {
	out := *base
	out.Name, out.Extends, out.Format = over.Name, over.Extends, over.Format
	put(&out.Title, over.Title, over.Title.At.Given())
	put(&out.Description, over.Description, over.Description.At.Given())
	put(&out.Workloads, over.Workloads, over.Workloads != nil)
	put(&out.Baselines, over.Baselines, over.Baselines != nil)
	put(&out.Environments, over.Environments, over.Environments != nil)
	put(&out.Published, over.Published, over.Published.at.Given())
	put(&out.Claims, over.Claims, over.Claims.at.Given())
	put(&out.Metrics, over.Metrics, over.Metrics != nil)
	put(&out.Sort, over.Sort, over.Sort.At.Given())
	out.Exclude = append(slices.Clip(base.Exclude), over.Exclude...)
	out.Common = slices.Clone(base.Common)
	for _, a := range over.Common {
		if i := slices.IndexFunc(out.Common, func(b yamlfile.Axis) bool { return b.Key.Text == a.Key.Text }); i >= 0 {
			out.Common[i] = a
		} else {
			out.Common = append(out.Common, a)
		}
	}

	put(&out.Tables, over.Tables, over.Tables != nil)
	layProtocol(&out.Protocol, over.Protocol)
	switch {
	case over.Parts != nil:
		out.Parts, out.Workloads, out.Environments = over.Parts, over.Workloads, over.Environments
	case over.Workloads != nil || over.Environments != nil:
		out.Parts = nil
	}
	// The scales of a matrix that was replaced are of no use.
	if over.Parts != nil || over.Workloads != nil || over.Environments != nil {
		out.Scales = nil
	}
	for _, k := range over.Scales {
		if i := slices.IndexFunc(out.Scales, func(b yamlfile.KeyedEntry[scale]) bool { return b.Key.Text == k.Key.Text }); i >= 0 {
			out.Scales = slices.Clone(out.Scales)
			out.Scales[i] = k
		} else {
			out.Scales = append(slices.Clip(out.Scales), k)
		}
	}
	return &out
}

// layProtocol lays the keys that are given over a protocol.
func layProtocol(a *protocol, b protocol) {
	put(&a.Blocks, b.Blocks, b.Blocks.At.Given())
	put(&a.Until, b.Until, b.Until.at.Given() || b.Blocks.At.Given()) // a number fixes it again
	put(&a.TimeBudget, b.TimeBudget, b.TimeBudget.At.Given())
	put(&a.MaxBlocks, b.MaxBlocks, b.MaxBlocks.At.Given())
	put(&a.ClaimTime, b.ClaimTime, b.ClaimTime.At.Given())
	put(&a.Warmup, b.Warmup, b.Warmup.At.Given())
	put(&a.PerBlock, b.PerBlock, b.PerBlock.At.Given())
	put(&a.Pause, b.Pause, b.Pause.At.Given())
	put(&a.Seed, b.Seed, b.Seed.At.Given())
	put(&a.Order, b.Order, b.Order.At.Given())
	put(&a.Cache, b.Cache, b.Cache.At.Given())
	put(&a.TrialLimit, b.TrialLimit, b.TrialLimit.At.Given())
	put(&a.Delta, b.Delta, b.Delta.At.Given())
	put(&a.Small, b.Small, b.Small.At.Given())
	put(&a.Tuned, b.Tuned, b.Tuned.At.Given())
	put(&a.Collect, b.Collect, b.Collect.at.Given())
	a.Limits = a.Limits.under(b.Limits)
}

func put[T any](to *T, from T, given bool) {
	if given {
		*to = from
	}
}

// Error is one thing that is wrong with a study.
type Error = yamlfile.Error

// Errors is all of them: whatever this package says against a study is of this
// type.
type Errors = yamlfile.Errors
