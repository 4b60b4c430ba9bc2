// Package threshold reads the file that tells a gate what to let pass.
//
// It is opinionated: a file that says nothing, or says one thing twice, is an
// error, since a gate that was mistyped would pass for ever.
package threshold

import (
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/understand/analyze/gate"
)

var format = yamlfile.Format{Noun: "threshold file", Plural: "threshold files", Key: "plimsoll-gate", Version: 1}

type document struct {
	Format    yamlfile.Count   `key:"plimsoll-gate" jsonschema:"required,minimum=1,maximum=1"`
	FailAbove yamlfile.Percent `key:"fail-above"`
	Rules     []rule           `key:"rules" jsonschema:"minItems=1"`
}

type rule struct {
	Environment pattern          `key:"environment"`
	Workload    pattern          `key:"workload"`
	Metric      pattern          `key:"metric"`
	FailAbove   yamlfile.Percent `key:"fail-above"`
	Ignore      yamlfile.Flag    `key:"ignore"`

	at yamlfile.Pos
}

// Place notes where the rule stands.
func (r *rule) Place(at yamlfile.Pos) { r.at = at }

// pattern is a name in which * stands for any characters.
type pattern struct{ yamlfile.Word }

var isPattern = regexp.MustCompile(`^[A-Za-z0-9*][A-Za-z0-9*._/@:=+,-]*$`).MatchString

// Read reads it.
func (x *pattern) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "a name, in which * stands for any characters"
	x.Take(d, n, f, expected, func(s string) bool { return isPattern(s) && len(s) <= 4*yamlfile.MaxWord })
}

// Read reads thresholds from the text of a file; path is for messages. The
// error is a *yamlfile.Errors with everything that is wrong.
func Read(path string, data []byte) (gate.Thresholds, error) {
	d := &yamlfile.Decoder{Path: path, Problems: &yamlfile.Problems{}}
	var f document
	root := format.Decode(d, data, &f, "the threshold file")
	if root == nil {
		return gate.Thresholds{}, d.Err()
	}
	if !d.Any() && !f.FailAbove.At.Given() && len(f.Rules) == 0 {
		d.Add(d.At(root), "no threshold is given", "fail-above: 5%, or rules")
	}
	out := gate.Thresholds{FailAbove: f.FailAbove.Fraction}
	for i := range f.Rules {
		r := &f.Rules[i]
		check(d, r)
		out.Rules = append(out.Rules, gate.Rule{
			Where:       fmt.Sprintf("%s:%d:%d", path, r.at.Line, r.at.Column),
			Environment: r.Environment.Text, Workload: r.Workload.Text, Metric: r.Metric.Text,
			FailAbove: r.FailAbove.Fraction, Ignore: r.Ignore.On,
		})
	}
	if d.Any() {
		return gate.Thresholds{}, d.Err()
	}
	return out, nil
}

// check demands that a rule names some cells, and one thing to do with them.
func check(d *yamlfile.Decoder, r *rule) {
	if !r.at.Given() || d.Any() {
		return
	}
	if !r.Environment.At.Given() && !r.Workload.At.Given() && !r.Metric.At.Given() {
		d.Add(r.at, "this rule names no environment, workload or metric", "at least one of them; for all cells there is the fail-above of the file")
	}
	if r.FailAbove.At.Given() == r.Ignore.On {
		d.Add(r.at, "this rule says what to do "+map[bool]string{true: "twice", false: "not at all"}[r.Ignore.On], "either fail-above or ignore: true")
	}
}
