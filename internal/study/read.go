package study

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// formatVersion is the version of the format that this program reads.
const formatVersion = 1

// Read reads a study, with all that it extends, and checks it against the
// catalogue. The error is an *Errors.
func Read(src Source, cat *Catalogue) (*Study, error) {
	p := &problems{}
	doc, texts := readDocument(src, cat, p, nil)
	if doc == nil {
		return nil, p.err()
	}
	s := check(doc, cat, p, pos{path: src.Path, line: 1, col: 1})
	if p.any() {
		return nil, p.err()
	}
	if src.dir != "" {
		s.Path = src.Path // a bundled study goes by its name
	}
	s.Source = strings.Join(texts, "")
	return s, nil
}

// readDocument reads one file and lays it over the one that it extends. The
// texts are those of all files, the first one first.
func readDocument(src Source, cat *Catalogue, p *problems, before []string) (*document, []string) {
	root := parse(src.Path, src.Data, p)
	if root == nil {
		return nil, nil
	}
	d := &decoder{path: src.Path, problems: p, factors: cat.Factors}
	doc := &document{}
	if !isStudy(d, root) {
		return nil, nil
	}
	d.value(root, reflect.ValueOf(doc).Elem(), field{key: "the study"})
	texts := []string{string(src.Data)}
	if !doc.Extends.at.given() {
		return doc, texts
	}
	before = append(before, src.Path)
	parent, ok := src.parent(doc.Extends, p)
	switch {
	case !ok:
		return doc, texts
	case slices.Contains(before, parent.Path):
		p.add(doc.Extends.at, "the studies extend each other in a circle: "+strings.Join(append(before, parent.Path), " → "), "a chain that ends")
		return doc, texts
	case len(before) > maxExtends:
		p.add(doc.Extends.at, "too many studies extend each other", "a chain of at most 8")
		return doc, texts
	}
	base, more := readDocument(parent, cat, p, before)
	if base == nil {
		return doc, texts
	}
	texts = append(texts, "\n# extends "+parent.Path+"\n")
	return overlay(base, doc), append(texts, more...)
}

// isStudy looks at the format version before anything else: of another format,
// or of a file that is no study at all, nothing else that we would say is true.
func isStudy(d *decoder, root *yaml.Node) bool {
	const expected = `the line "plimsoll: 1", the version of the format`
	if root.Kind != yaml.MappingNode {
		d.add(d.at(root), "this is no study but "+kindOf(root), expected+", and further keys")
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "plimsoll" {
			continue
		}
		v := root.Content[i+1]
		if n, err := strconv.Atoi(v.Value); err == nil && n > formatVersion {
			d.add(d.at(v), fmt.Sprintf("this study has format %d", n), fmt.Sprintf("at most format %d; a newer plimsoll reads it", formatVersion))
			return false
		}
		return true
	}
	e := d.add(d.at(root), `this is no study: it has no key "plimsoll"`, expected)
	for i := 0; i < len(root.Content); i += 2 {
		if near := nearest(root.Content[i].Value, []string{"plimsoll"}); near != "" {
			e.Line, e.Column, e.Suggestion = root.Content[i].Line, root.Content[i].Column, near
			break
		}
	}
	return false
}

// overlay lays what a study says over what it extends: a key that is given
// replaces the other's, limits and protocol key by key; common likewise;
// exclusions add up, since what is impossible stays so.
func overlay(base, over *document) *document {
	out := *base
	out.Name, out.Extends, out.Format = over.Name, over.Extends, over.Format
	put(&out.Title, over.Title, over.Title.at.given())
	put(&out.Description, over.Description, over.Description.at.given())
	put(&out.Workloads, over.Workloads, over.Workloads != nil)
	put(&out.Baselines, over.Baselines, over.Baselines != nil)
	put(&out.Environments, over.Environments, over.Environments != nil)
	put(&out.Published, over.Published, over.Published.at.given())
	put(&out.Metrics, over.Metrics, over.Metrics != nil)
	put(&out.Sort, over.Sort, over.Sort.at.given())
	out.Exclude = append(slices.Clip(base.Exclude), over.Exclude...)
	out.Common = slices.Clone(base.Common)
	for _, a := range over.Common {
		if i := slices.IndexFunc(out.Common, func(b axis) bool { return b.key.text == a.key.text }); i >= 0 {
			out.Common[i] = a
		} else {
			out.Common = append(out.Common, a)
		}
	}

	a, b := &out.Protocol, over.Protocol
	put(&a.Blocks, b.Blocks, b.Blocks.at.given())
	put(&a.Warmup, b.Warmup, b.Warmup.at.given())
	put(&a.PerBlock, b.PerBlock, b.PerBlock.at.given())
	put(&a.Pause, b.Pause, b.Pause.at.given())
	put(&a.Seed, b.Seed, b.Seed.at.given())
	put(&a.Order, b.Order, b.Order.at.given())
	put(&a.Cache, b.Cache, b.Cache.at.given())
	put(&a.TrialLimit, b.TrialLimit, b.TrialLimit.at.given())
	put(&a.Delta, b.Delta, b.Delta.at.given())
	put(&a.Limits.CPUs, b.Limits.CPUs, b.Limits.CPUs.at.given())
	put(&a.Limits.Memory, b.Limits.Memory, b.Limits.Memory.at.given())
	return &out
}

func put[T any](to *T, from T, given bool) {
	if given {
		*to = from
	}
}
