// Package profile reads what counts in a use: the bundled profiles and the
// user's own.
//
// It is opinionated: every criterion and every demand says why it is there, so
// that whoever reads an advice can dispute it.
//
// Why it is so: docs/decisions/advice.md.
package profile

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
)

var format = yamlfile.Format{Noun: "profile", Plural: "profiles", Key: "plimsoll-profile", Version: 1}

type document struct {
	Format   yamlfile.Count   `key:"plimsoll-profile" jsonschema:"required,minimum=1,maximum=1"`
	Name     yamlfile.Name    `key:"name" jsonschema:"required"`
	Title    yamlfile.Text    `key:"title" jsonschema:"required"`
	What     yamlfile.Text    `key:"what"`
	Study    studyName        `key:"study"`
	Matters  yamlfile.Percent `key:"matters"`
	Criteria []criterion      `key:"criteria" jsonschema:"required,minItems=1"`
	Require  []demand         `key:"require" jsonschema:"minItems=1"`
	Prefer   []demand         `key:"prefer" jsonschema:"minItems=1"`
}

type criterion struct {
	Workload   workload          `key:"workload" jsonschema:"required"`
	Parameters yamlfile.Settings `key:"parameters"`
	Metric     yamlfile.Name     `key:"metric" jsonschema:"required"`
	Better     yamlfile.Name     `key:"better" jsonschema:"required,enum=lower,enum=higher"`
	Weight     weight            `key:"weight" jsonschema:"required"`
	Why        yamlfile.Text     `key:"why" jsonschema:"required"`

	at yamlfile.Pos
}

// Place notes where the criterion stands.
func (c *criterion) Place(at yamlfile.Pos) { c.at = at }

type demand struct {
	Is  yamlfile.Words `key:"is" jsonschema:"required"`
	Why yamlfile.Text  `key:"why" jsonschema:"required"`

	at yamlfile.Pos
}

// Place notes where the demand stands.
func (x *demand) Place(at yamlfile.Pos) { x.at = at }

// word is text of one kind.
type word struct{ yamlfile.Word }

func (x *word) read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field, ok func(string) bool, expected string) {
	x.Take(d, n, f, expected, func(s string) bool { return ok(s) && len(s) <= 4*yamlfile.MaxWord })
}

// workload is a name, or the id of a run's workload with its parameters.
type workload struct{ word }

var isWorkload = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/=+-]*$`).MatchString

// Read reads it.
func (x *workload) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.read(d, n, f, isWorkload, "the name of a workload, or its id as a report shows it")
}

// studyName is a bundled study or a path, as `plimsoll run` takes it.
type studyName struct{ word }

var isStudy = regexp.MustCompile(`^[A-Za-z0-9_./][A-Za-z0-9_./-]*$`).MatchString

// Read reads it.
func (x *studyName) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.read(d, n, f, isStudy, "a study as plimsoll run takes it: a bundled one's name, or a path without blanks")
}

// weight is a number above 0.
type weight struct {
	N  float64
	At yamlfile.Pos
}

// maxWeight bounds a weight.
const maxWeight = 1000

// Read reads it.
func (x *weight) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "a number above 0 and at most 1000, such as 3 or 0.5"
	s, ok := d.Scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := Weight(s)
	if err != nil || v == 0 {
		d.Bad(n, f, expected)
		return
	}
	x.N, x.At = v, d.At(n)
}

var isWeight = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`).MatchString

// Weight reads a weight from 0 to maxWeight.
func Weight(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !isWeight(s) || v > maxWeight {
		return 0, fmt.Errorf("%q is not a weight: expected a number from 0 to %d", s, maxWeight)
	}
	return v, nil
}

// Read reads a profile from the text of a file; path is for messages. The
// error is a *yamlfile.Errors with everything that is wrong.
func Read(path string, data []byte) (advise.Profile, error) {
	d := &yamlfile.Decoder{Path: path, Problems: &yamlfile.Problems{}}
	var f document
	if format.Decode(d, data, &f, "the profile") == nil {
		return advise.Profile{}, d.Err()
	}
	out := advise.Profile{Name: f.Name.Text, Title: f.Title.Text, What: f.What.Text, Study: f.Study.Text, Matters: f.Matters.Fraction}
	for i := range f.Criteria {
		out.Criteria = append(out.Criteria, f.Criteria[i].criterion())
	}
	out.Require, out.Prefer = demands(f.Require), demands(f.Prefer)
	if !d.Any() {
		check(d, &f, out)
	}
	if d.Any() {
		return advise.Profile{}, d.Err()
	}
	return out, nil
}

func (c *criterion) criterion() advise.Criterion {
	out := advise.Criterion{Workload: c.Workload.Text, Metric: c.Metric.Text, Better: record.Direction(c.Better.Text),
		Weight: c.Weight.N, Why: c.Why.Text, Where: where(c.at)}
	for _, axis := range c.Parameters {
		if out.Params == nil {
			out.Params = map[string][]string{}
		}
		for _, l := range axis.Levels.List {
			out.Params[axis.Key.Text] = append(out.Params[axis.Key.Text], l.Text)
		}
	}
	return out
}

func demands(from []demand) []advise.Demand {
	var out []advise.Demand
	for _, x := range from {
		one := advise.Demand{Why: x.Why.Text, Where: where(x.at)}
		for _, w := range x.Is.List {
			one.Is = append(one.Is, w.Text)
		}
		out = append(out, one)
	}
	return out
}

func where(at yamlfile.Pos) string { return fmt.Sprintf("%s:%d:%d", at.Path, at.Line, at.Column) }

// check refuses a criterion that stands twice: its weight would count twice
// unseen.
func check(d *yamlfile.Decoder, f *document, p advise.Profile) {
	for i := range p.Criteria {
		for k := range i {
			a, b := &p.Criteria[i], &p.Criteria[k]
			if a.Workload == b.Workload && a.Metric == b.Metric && reflect.DeepEqual(a.Params, b.Params) {
				d.Add(f.Criteria[i].at, fmt.Sprintf("this criterion stands here again (first in line %d)", f.Criteria[k].at.Line), "each criterion once, with its whole weight")
			}
		}
	}
}

//go:embed catalogue
var bundled embed.FS

// Names lists the bundled profiles.
func Names() []string {
	return []string{"faas", "hpc", "edge", "database", "web", "ci", "grading", "pods"}
}

// ErrNone says that no bundled profile has this name.
var ErrNone = errors.New("no such profile")

// Bundled reads a bundled profile.
func Bundled(name string) (advise.Profile, error) {
	data, err := Source(name)
	if err != nil {
		return advise.Profile{}, err
	}
	return Read(name+".yaml", data)
}

// Source is the text of a bundled profile.
func Source(name string) ([]byte, error) {
	data, err := bundled.ReadFile(path.Join("catalogue", name+".yaml"))
	if err != nil {
		return nil, fmt.Errorf("profile %q: %w", name, ErrNone)
	}
	return data, nil
}
