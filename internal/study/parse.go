package study

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		syntax(whole, err, p)
		return nil
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		syntax(whole, err, p)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || isNull(doc.Content[0]) {
		p.add(whole, "the file is empty", `a study, which begins with "plimsoll: 1"`)
		return nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		syntax(whole, err, p)
		return nil
	default:
		p.add(pos{path, second.Line, second.Column}, "a second YAML document begins", "one study a file")
		return nil
	}
	root := doc.Content[0]
	if !refuse(path, root, p) {
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
	here := pos{path, 1, 0}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		here.col++
		switch {
		case r == utf8.RuneError && size == 1:
			return here, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i])
		case r == '\n':
			here = pos{path, here.line + 1, 0}
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
		mark := load.Mark
		if strings.Contains(what, "end of stream") && load.ContextMark.Line > 0 {
			mark = load.ContextMark // what never ends began there
		}
		if mark.Line > 0 {
			at.line, at.col = mark.Line, max(1, mark.Column)
		}
	}
	if strings.Contains(what, "max depth") {
		p.add(at, fmt.Sprintf("nested deeper than %d levels", maxDepth), "a study, which needs six")
		return
	}
	p.add(at, "this is no valid YAML: "+what, "")
}

// refuse looks for what studies do without: anchors and aliases are how a few
// lines become millions (and cycles), tags how data becomes types. One error
// is enough: where there is one there are many.
func refuse(path string, n *yaml.Node, p *problems) bool {
	at := pos{path, n.Line, n.Column}
	const instead = `the value itself (studies have no anchors and aliases; "common" and "extends" save repetition)`
	switch {
	case n.Kind == yaml.AliasNode:
		p.add(at, fmt.Sprintf("alias %s", quote("*"+n.Value)), instead)
		return false
	case n.Anchor != "":
		p.add(at, fmt.Sprintf("anchor %s", quote("&"+n.Anchor)), instead)
		return false
	case n.Style&yaml.TaggedStyle != 0:
		p.add(at, fmt.Sprintf("tag %s", quote(n.Tag)), "a plain value (studies have no tags)")
		return false
	}
	for _, c := range n.Content {
		if !refuse(path, c, p) {
			return false
		}
	}
	return true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
