package study

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// The limits of a file. A study of a thousand environments has some 50 kB and
// is six levels deep.
const (
	maxBytes = 1 << 20
	maxDepth = 40
)

// parse reads one YAML document into a tree with places. What it lets through
// has no anchors, aliases and tags, so the tree is no larger than the text.
func parse(path string, data []byte, p *problems) *yaml.Node {
	whole := pos{path: path}
	if len(data) > maxBytes {
		p.add(whole, "the file is larger than 1 MiB", "a study, which is a few kB of YAML")
		return nil
	}
	if at, what := notText(path, data); what != "" {
		p.add(at, what, "a study: YAML text in UTF-8")
		return nil
	}
	var doc yaml.Node
	err := yaml.Load(data, &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		syntax(whole, err, p)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || isNull(doc.Content[0]) {
		p.add(whole, "the file is empty", `a study, which begins with "plimsoll: 1"`)
		return nil
	}
	root := doc.Content[0]
	before := len(p.list)
	refuse(path, root, p)
	if len(p.list) > before {
		return nil
	}
	return root
}

// notText finds the first byte that no study has: one clear message instead of
// whatever a YAML parser makes of a binary file.
func notText(path string, data []byte) (pos, string) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return pos{path, 1, 1}, "the file is in UTF-16"
	}
	line, start := 1, 0
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		here := pos{path, line, utf8.RuneCount(data[start:i]) + 1}
		switch {
		case r == utf8.RuneError && size == 1:
			return here, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i])
		case r == '\n':
			line, start = line+1, i+1
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85:
			return here, fmt.Sprintf("control character 0x%02x", r)
		}
		i += size
	}
	return pos{}, ""
}

// syntax turns what the parser says into one of our errors.
func syntax(whole pos, err error, p *problems) {
	at, what := whole, err.Error()
	var load *yaml.LoadError
	if errors.As(err, &load) {
		what = load.Message
		if load.ContextMsg != "" && !strings.Contains(what, load.ContextMsg) {
			what = load.ContextMsg + ": " + what
		}
		if load.Mark.Line > 0 {
			at.line, at.col = load.Mark.Line, max(1, load.Mark.Column)
		}
	}
	switch {
	case strings.Contains(what, "max depth"):
		p.add(at, fmt.Sprintf("nested deeper than %d levels", maxDepth), "a study, which needs six")
	case strings.Contains(what, "multiple documents"), strings.Contains(what, "expected single document"):
		p.add(at, "more than one YAML document", "one study a file")
	case strings.Contains(what, "no documents"):
		p.add(at, "the file is empty", `a study, which begins with "plimsoll: 1"`)
	default:
		p.add(at, "this is no valid YAML: "+what, "")
	}
}

// refuse walks the tree for what studies do without: anchors and aliases are
// how a few lines become millions (and cycles), tags how data becomes types.
func refuse(path string, n *yaml.Node, p *problems) {
	at := pos{path, n.Line, n.Column}
	switch {
	case n.Kind == yaml.AliasNode:
		p.add(at, fmt.Sprintf("alias *%s", n.Value), `the value written out (studies have no aliases; "common" and "extends" save repetition)`)
		return
	case n.Anchor != "":
		p.add(at, fmt.Sprintf("anchor &%s", n.Anchor), `none (studies have no anchors; "common" and "extends" save repetition)`)
	case n.Style&yaml.TaggedStyle != 0:
		p.add(at, fmt.Sprintf("tag %s", n.Tag), "a plain value (studies have no tags)")
	}
	for _, c := range n.Content {
		refuse(path, c, p)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
