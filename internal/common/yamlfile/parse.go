package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"plimsoll/internal/common/safepath"
)

// The limits of a file. A study of a thousand environments has some 50 kB and
// is six levels deep.
const (
	MaxBytes = 1 << 20
	maxDepth = 40
)

// Expected is what a file should be that is read here, for the error of a larger one.
const Expected = "a few kB of YAML"

// ReadGiven returns the content of a file that a user names, see safepath.ReadGiven.
func ReadGiven(path string) ([]byte, error) { return safepath.ReadGiven(path, MaxBytes, Expected) }

// Parse reads one YAML document into a tree with places, or gives nil. What it
// lets through has no anchors, aliases and tags, so the tree is no larger than
// the text.
func (f *Format) Parse(path string, data []byte, p *Problems) *yaml.Node {
	whole := Pos{Path: path}
	if len(data) > MaxBytes {
		p.Add(whole, "the file is larger than 1 MiB", f.a()+", which is a few kB of YAML")
		return nil
	}
	if at, what := notText(path, data); what != "" {
		p.Add(at, what, f.a()+": YAML text in UTF-8")
		return nil
	}
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		f.syntax(whole, err, p)
		return nil
	}
	var doc, second yaml.Node
	if err := loader.Load(&doc); err != nil && !errors.Is(err, io.EOF) {
		f.syntax(whole, err, p)
		return nil
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 || IsNull(doc.Content[0]) {
		p.Add(whole, "the file is empty", fmt.Sprintf("%s, which begins with \"%s: %d\"", f.a(), f.Key, f.Version))
		return nil
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		f.syntax(whole, err, p)
		return nil
	default:
		p.Add(Pos{path, second.Line, second.Column}, "a second YAML document begins", "one "+f.Noun+" a file")
		return nil
	}
	root := doc.Content[0]
	if !f.refuse(path, root, p) {
		return nil
	}
	return root
}

// notText finds the first byte that no such file has: one clear message instead of
// whatever a YAML parser makes of a binary file.
func notText(path string, data []byte) (Pos, string) {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return Pos{path, 1, 1}, "the file is in UTF-16"
	}
	here := Pos{path, 1, 0}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		here.Column++
		switch {
		case r == utf8.RuneError && size == 1:
			return here, fmt.Sprintf("byte 0x%02x is not UTF-8", data[i])
		case r == '\n':
			here = Pos{path, here.Line + 1, 0}
		case r < ' ' && r != '\t' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85:
			return here, fmt.Sprintf("control character 0x%02x", r)
		}
		i += size
	}
	return Pos{}, ""
}

// syntax turns what the parser says into one of our errors.
func (f *Format) syntax(whole Pos, err error, p *Problems) {
	at, what := whole, err.Error()
	if load, ok := errors.AsType[*yaml.LoadError](err); ok {
		what = load.Message
		if load.ContextMsg != "" && !strings.Contains(what, load.ContextMsg) {
			what = load.ContextMsg + ": " + what
		}
		mark := load.Mark
		if strings.Contains(what, "end of stream") && load.ContextMark.Line > 0 {
			mark = load.ContextMark // what never ends began there
		}
		if mark.Line > 0 {
			at.Line, at.Column = mark.Line, max(1, mark.Column)
		}
	}
	if strings.Contains(what, "max depth") {
		p.Add(at, fmt.Sprintf("nested deeper than %d levels", maxDepth), f.a()+", which needs six")
		return
	}
	p.Add(at, "this is not valid YAML: "+what, "")
}

// refuse looks for what we do without: anchors and aliases are how a few
// lines become millions (and cycles), tags how data becomes types. One error
// is enough: where there is one there are many.
func (f *Format) refuse(path string, n *yaml.Node, p *Problems) bool {
	at := Pos{path, n.Line, n.Column}
	instead := fmt.Sprintf("the value itself (%s have no anchors and aliases%s)", f.Plural, f.Instead)
	switch {
	case n.Kind == yaml.AliasNode:
		p.Add(at, fmt.Sprintf("alias %s", Quote("*"+n.Value)), instead)
		return false
	case n.Anchor != "":
		p.Add(at, fmt.Sprintf("anchor %s", Quote("&"+n.Anchor)), instead)
		return false
	case n.Style&yaml.TaggedStyle != 0:
		p.Add(at, fmt.Sprintf("tag %s", Quote(n.Tag)), "a plain value ("+f.Plural+" have no tags)")
		return false
	}
	for _, c := range n.Content {
		if !f.refuse(path, c, p) {
			return false
		}
	}
	return true
}

// IsNull says whether a key has no value.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
