package study

import (
	"reflect"
	"regexp"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/studies"
)

// claims is the key of that name: a list, or the file that holds it.
type claims struct {
	at   yamlfile.Pos
	list []claim
	file filePath
}

// claimsFile is that file.
type claimsFile struct {
	Format yamlfile.Count `key:"plimsoll-claims" jsonschema:"required,minimum=1,maximum=1" jsonschema_description:"Version of the format: 1."`
	Claims []claim        `key:"claims" jsonschema:"required,minItems=1" jsonschema_description:"The sentences that the study tests."`
}

// claimsRef is the long form of the key.
type claimsRef struct {
	File filePath `key:"file" jsonschema:"required" jsonschema_description:"The file that holds the claims, in this study's folder or below it."`
}

type claim struct {
	at        yamlfile.Pos
	ID        claimID          `key:"id" jsonschema:"required" jsonschema_description:"A permanent name, such as baresi2024/6a."`
	Says      yamlfile.Text    `key:"says" jsonschema:"required" jsonschema_description:"The sentence."`
	Why       yamlfile.Text    `key:"why" jsonschema_description:"What is not known of its cause; answers may follow."`
	Needs     yamlfile.Text    `key:"needs" jsonschema_description:"What is not available: why nothing is tested, or what the tests leave out."`
	Tests     []claimTest      `key:"tests" jsonschema:"minItems=1" jsonschema_description:"What must hold of the measurements."`
	Answers   []claimAnswer    `key:"answers" jsonschema:"minItems=1" jsonschema_description:"Tests whose outcome says why."`
	Features  yamlfile.Text    `key:"features" jsonschema_description:"The group of the published feature table whose cells are the claim."`
	Published []publishedValue `key:"published" jsonschema:"minItems=1" jsonschema_description:"The published values to show next to it."`
}

type claimTest struct {
	at         yamlfile.Pos
	Of         yamlfile.Axes  `key:"of" jsonschema_description:"The environments that A is of: levels by factor, or by engine."`
	To         claimTo        `key:"to" jsonschema_description:"Those that B is of, or native, floor or host. Default: A's own."`
	Vary       yamlfile.Name  `key:"vary" jsonschema_description:"A and B are any two environments of these that differ in this factor only."`
	Same       yamlfile.Words `key:"same" jsonschema_description:"The factors in which A and B must agree. Default: those that vary on both sides and that the two do not name otherwise."`
	Workload   claimWork      `key:"workload" jsonschema:"required" jsonschema_description:"A workload's name or id, a list of them, or one with parameters."`
	ToWorkload claimWork      `key:"to-workload" jsonschema_description:"That of B, where it is another."`
	Metric     yamlfile.Name  `key:"metric" jsonschema:"required" jsonschema_description:"The metric."`
	ToMetric   yamlfile.Name  `key:"to-metric" jsonschema_description:"That of B, where it is another."`
	Ratio      ratioRange     `key:"ratio" jsonschema_description:"What A over B must be: < 1, >= 2, or 0.95..1.05."`
	Value      valueRange     `key:"value" jsonschema_description:"What A must be, with a unit: < 1ms, or 15MB..30MB."`
}

type claimAnswer struct {
	claimTest
	Supported    yamlfile.Text  `key:"supported" jsonschema:"required" jsonschema_description:"What holds where the test is supported."`
	Contradicted yamlfile.Text  `key:"contradicted" jsonschema_description:"What holds where it is contradicted."`
	Part         yamlfile.Words `key:"part" jsonschema_description:"The part of the study, or the parts, that measure it, for a run that lacks them."`
}

type publishedValue struct {
	at       yamlfile.Pos
	Source   yamlfile.Text `key:"source" jsonschema_description:"The study that published it. Default: that of the claim's id."`
	Table    yamlfile.Text `key:"table" jsonschema_description:"The table or figure."`
	Engine   yamlfile.Text `key:"engine"`
	Variant  yamlfile.Text `key:"variant"`
	Image    yamlfile.Text `key:"image"`
	Workload yamlfile.Text `key:"workload"`
	Metric   yamlfile.Text `key:"metric"`
	Text     yamlfile.Text `key:"text" jsonschema_description:"What is published where no table has it."`
}

func (c *claim) Place(at yamlfile.Pos)          { c.at = at }
func (t *claimTest) Place(at yamlfile.Pos)      { t.at = at }
func (v *publishedValue) Place(at yamlfile.Pos) { v.at = at }

// Read reads it.
func (c *claims) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	c.at = d.At(n)
	if n.Kind == yaml.MappingNode {
		var ref claimsRef
		d.Value(n, reflect.ValueOf(&ref).Elem(), f)
		c.file = ref.File
		return
	}
	if n.Kind != yaml.SequenceNode {
		d.Add(d.At(n), f.Key+" is "+yamlfile.KindOf(n), "a list of claims, or file: ./claims.yaml")
		return
	}
	d.Value(n, reflect.ValueOf(&c.list).Elem(), yamlfile.Field{Key: f.Key, MinItems: 1})
}

var claimsFormat = yamlfile.Format{Noun: "claims file", Plural: "claims files", Key: "plimsoll-claims", Version: 1}

// follow reads the file that the key names. A bundled study's lies among the
// bundled ones.
func (c *claims) follow(s *Source, cat *Catalogue, p *yamlfile.Problems) {
	const expected = "a .yaml file with claims in this study's folder"
	ref := c.file.Word
	if !ref.At.Given() {
		return
	}
	var src Source
	var ok bool
	if s.dir == "" && s.bundled {
		data, err := studies.FS.ReadFile(ref.Text)
		if err != nil {
			p.Add(ref.At, "there is no bundled file "+yamlfile.Quote(ref.Text), expected)
			return
		}
		src, ok = Source{Path: "studies/" + ref.Text, Data: data}, true
	} else {
		src, ok = s.beside(ref, p, "file", expected)
	}
	if !ok {
		return
	}
	c.list = readClaims(src, cat, p)
}

// readClaims reads a file of claims.
func readClaims(src Source, cat *Catalogue, p *yamlfile.Problems) []claim {
	d := &yamlfile.Decoder{Path: src.Path, Problems: p, Rest: cat.Factors, References: imageFactor, Joined: joinedFactors, Sizes: memoryFactor}
	var doc claimsFile
	claimsFormat.Decode(d, src.Data, &doc, "the file")
	return doc.Claims
}

// claimID is a claim's name.
type claimID struct{ yamlfile.Word }

const claimIDPattern = `^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$`

var isClaimID = regexp.MustCompile(claimIDPattern).MatchString

// Read reads it.
func (x *claimID) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "a name such as mine/1: lower-case letters and digits, then also '.', '_', '-', '/'"
	x.Take(d, n, f, expected, func(s string) bool { return isClaimID(s) && len(s) <= yamlfile.MaxWord })
}

// claimTo is the other side: a baseline, or environments.
type claimTo struct {
	baseline yamlfile.Word
	envs     yamlfile.Axes
	at       yamlfile.Pos
}

// Read reads it.
func (x *claimTo) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.at = d.At(n)
	if n.Kind == yaml.ScalarNode {
		var name yamlfile.Name
		name.Read(d, n, f)
		x.baseline = name.Word
		return
	}
	x.envs.Read(d, n, f)
}

// claimWork chooses workloads.
type claimWork struct {
	names  []yamlfile.Word
	params yamlfile.Settings
	at     yamlfile.Pos
}

// claimWorkLong is its long form.
type claimWorkLong struct {
	Name       claimIDs          `key:"name" jsonschema:"required"`
	Parameters yamlfile.Settings `key:"parameters" jsonschema:"required"`
}

// claimIDs are names or ids of workloads: one, or a list.
type claimIDs struct{ list []yamlfile.Word }

// Read reads it.
func (x *claimIDs) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
		if len(nodes) == 0 {
			d.Add(d.At(n), f.Key+" is an empty list", "a workload's name")
		}
	}
	for _, c := range nodes {
		var id claimID
		id.Read(d, c, f)
		if id.At.Given() {
			x.list = append(x.list, id.Word)
		}
	}
}

// Read reads it.
func (x *claimWork) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.at = d.At(n)
	var long claimWorkLong
	if n.Kind == yaml.MappingNode {
		d.Value(n, reflect.ValueOf(&long).Elem(), f)
	} else {
		long.Name.Read(d, n, f)
	}
	x.names, x.params = long.Name.list, long.Parameters
}
