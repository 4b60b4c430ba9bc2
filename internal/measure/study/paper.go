package study

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/studies"
)

// aspects are what a paper's protocol speaks of, in the order in which a table
// shows them.
var aspects = []string{
	"program", "mechanism", "topology", "engine", "instrument", "arguments", "sizes", "data",
	"image", "client", "network", "limits", "cache", "repetitions", "pause", "order", "statistic",
}

// judged are the aspects by which a claim stands or falls: what was measured by
// another program, another mechanism or in another topology says nothing of
// what the paper measured.
var judged = []string{"program", "mechanism", "topology"}

// told are the aspects that are said beside a verdict and decide none: an engine's
// successor, by what a time was taken, and by what the engine was asked.
var told = []string{"engine", "instrument", "client"}

// notTold is what a protocol has where the paper is silent: nothing is known to
// differ from that.
const notTold = "not told"

// silent is what a protocol has where nothing is known that could be as published.
var silent = []string{notTold, "not known here"}

// paperFile is what a paper did, in studies/protocols/NAME.yaml.
type paperFile struct {
	Format yamlfile.Count                `key:"plimsoll-protocol" jsonschema:"required,minimum=1,maximum=1"`
	Known  yamlfile.Text                 `key:"known-from" jsonschema:"required"`
	Scales yamlfile.Keyed[yamlfile.Text] `key:"scales"` // why a scale differs, by its name
	Facts  []paperFact                   `key:"protocol" jsonschema:"required,minItems=1"`
}

// paperFact is one thing that the paper did. What stands here beside it is read
// from the study wherever the study says it.
type paperFact struct {
	at     yamlfile.Pos
	Aspect yamlfile.Name `key:"aspect" jsonschema:"required"`
	// Parts, Workload, Metrics and Of bound what it is true of; what is not
	// given is not bound. Parts whose names begin with "why-" are never meant.
	Parts    yamlfile.Words `key:"parts"`
	Workload claimWork      `key:"workload"`
	Metrics  yamlfile.Words `key:"metrics"`
	Of       yamlfile.Axes  `key:"of"`
	Paper    yamlfile.Text  `key:"paper" jsonschema:"required"`
	// From says where the study has it: a key of its protocol (blocks, pause,
	// order, cache, cpus, memory), the workload's command, a parameter of the
	// workload, or a factor. Is are the levels that are the paper's own (of a
	// command: what must stand in it).
	From yamlfile.Name `key:"from"`
	Is   texts         `key:"is"`
	// Here is what is done instead, in words, and Why the reason.
	Here yamlfile.Text `key:"here"`
	Why  yamlfile.Text `key:"why"`
}

// Place keeps where it stands.
func (f *paperFact) Place(at yamlfile.Pos) { f.at = at }

// texts is a text, or a list of them.
type texts struct{ list []string }

// Read reads it.
func (x *texts) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, c := range nodes {
		var t yamlfile.Text
		t.Read(d, c, f)
		if t.At.Given() {
			x.list = append(x.list, t.Text)
		}
	}
}

var paperFormat = yamlfile.Format{Noun: "protocol", Plural: "protocols", Key: "plimsoll-protocol", Version: 1}

// Papers lists the papers whose protocols are known.
func Papers() []string {
	files, err := fs.Glob(studies.FS, "protocols/*.yaml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = f[len("protocols/") : len(f)-len(".yaml")]
	}
	return files
}

// paper reads a paper's protocol; nil where there is none. The error is an
// *Errors.
func paper(name string, cat *Catalogue) (*paperFile, error) {
	if !yamlfile.IsName(name) {
		return nil, nil
	}
	path := "protocols/" + name + ".yaml"
	data, err := studies.FS.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading studies/%s: %w", path, err)
	}
	return readPaper("studies/"+path, data, cat)
}

func readPaper(path string, data []byte, cat *Catalogue) (*paperFile, error) {
	p := &yamlfile.Problems{}
	out := &paperFile{}
	d := &yamlfile.Decoder{Path: path, Problems: p, Rest: cat.Factors, References: imageFactor, Joined: joinedFactors, Sizes: memoryFactor}
	paperFormat.Decode(d, data, out, "the file")
	c := &checker{Problems: p, cat: cat}
	for i := range out.Facts {
		c.fact(&out.Facts[i])
	}
	if p.Any() {
		return nil, p.Err()
	}
	return out, nil
}

// fact checks a fact. A workload that the catalogue does not have is one that
// nothing is said of.
func (c *checker) fact(f *paperFact) {
	c.known(f.Aspect.Word, "aspect", aspects)
	switch {
	case f.From.At.Given() && len(f.Is.list) == 0:
		c.Add(f.From.At, "from says where the study has it, and nothing says what the paper had", "is: …")
	case !f.From.At.Given() && len(f.Is.list) > 0:
		c.Add(f.at, "is has levels, and nothing says of what", "from: …")
	case slices.Contains(judged, f.Aspect.Text) && (f.Here.At.Given() || f.From.At.Given()) && len(f.Workload.names) == 0:
		c.Add(f.at, "a "+f.Aspect.Text+" that may differ decides claims, and nothing says of which workload", "workload: …")
	case !f.From.At.Given() && f.Here.At.Given() && !f.Why.At.Given():
		c.Add(f.Here.At, "what is done here differs, and nothing says why", "why: …")
	case !f.From.At.Given() && f.Why.At.Given() && !f.Here.At.Given():
		c.Add(f.Why.At, "why, and nothing says what is done here instead", "here: …")
	}
}
