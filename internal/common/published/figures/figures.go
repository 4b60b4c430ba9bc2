// Package figures lists what studies drew, and how each of it is drawn here.
//
// It is opinionated: every figure of a study stands in the list, and one that is
// not drawn says why. A figure names the run's numbers by workload and metric and
// the published ones by their table; it holds no number itself.
//
// Why it is so: docs/decisions/findings.md.
package figures

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/studies"
)

// Kind is how a figure is drawn.
type Kind string

// The kinds of figures.
const (
	Bars   Kind = "bars"      // the values of a published table, theirs and ours
	Curves Kind = "curves"    // a metric over a numeric parameter
	Ramps  Kind = "ramps"     // over the number of containers that run
	Boxes  Kind = "boxes"     // the distribution of a metric, a box for each environment
	Series Kind = "series"    // over the time of a trial
	None   Kind = "not-drawn" // it says why
)

// The parts of ramps that are drawn.
const (
	Starts    = "starts"
	Stops     = "stops"
	Memory    = "memory"    // what is not free on the machine, as the program free counts it
	Footprint = "footprint" // what belongs to the containers: their processes, the engine's and the kernel's
	Course    = "course"    // memory again, over time
)

// Amount says whether a ramp's part is an amount of memory, which grows by what each
// container adds.
func (f *Figure) Amount() bool { return f.Part == Memory || f.Part == Footprint || f.Part == Course }

// OverData as what a figure is over means how much data lie in the image: a
// number of files, or the size of a database.
const OverData = "data"

// Figure is one figure of a study.
type Figure struct {
	// Source is the study's key, Name the figure's here, Shows where it stands in
	// the paper and Title what is in it.
	Source string `json:"source"`
	Name   string `json:"name"`
	Shows  string `json:"shows"`
	Title  string `json:"title"`
	Kind   Kind   `json:"kind"`
	// Table is the published table whose values are drawn, Rows those of its rows
	// that are; none means all.
	Table string   `json:"table,omitempty"`
	Rows  []string `json:"rows,omitempty"`
	// Workload is the name of ours in the catalogue, Metric its metric, or of
	// series the column.
	Workload string `json:"workload,omitempty"`
	Metric   string `json:"metric,omitempty"`
	// Over is the parameter of curves; Part what of ramps is drawn: one of the parts
	// above.
	Over string `json:"over,omitempty"`
	Part string `json:"part,omitempty"`
	// Note says in what ours is another thing, Because why nothing is drawn.
	Note    string `json:"note,omitempty"`
	Because string `json:"because,omitempty"`
}

type file struct {
	Format  yamlfile.Count `key:"plimsoll-figures" jsonschema:"required,minimum=1,maximum=1"`
	Source  yamlfile.Text  `key:"source"`
	Figures []entry        `key:"figures" jsonschema:"required,minItems=1"`
}

type entry struct {
	at       yamlfile.Pos
	Name     yamlfile.Name   `key:"name" jsonschema:"required"`
	Shows    yamlfile.Text   `key:"shows" jsonschema:"required"`
	Title    yamlfile.Text   `key:"title" jsonschema:"required"`
	Kind     yamlfile.Name   `key:"kind" jsonschema:"required,enum=bars,enum=curves,enum=ramps,enum=boxes,enum=series,enum=not-drawn"`
	Table    yamlfile.Text   `key:"table"`
	Rows     []yamlfile.Text `key:"rows" jsonschema:"minItems=1"`
	Workload yamlfile.Name   `key:"workload"`
	Metric   yamlfile.Name   `key:"metric"`
	Over     yamlfile.Name   `key:"over"`
	Part     yamlfile.Name   `key:"part" jsonschema:"enum=starts,enum=stops,enum=memory,enum=footprint,enum=course"`
	Note     yamlfile.Text   `key:"note"`
	Because  yamlfile.Text   `key:"because"`
}

// Place says where the figure stands in its file.
func (e *entry) Place(at yamlfile.Pos) { e.at = at }

var format = yamlfile.Format{Noun: "figures file", Plural: "figures files", Key: "plimsoll-figures", Version: 1}

// Names lists the studies whose figures are bundled.
func Names() []string {
	files, _ := fs.Glob(studies.FS, "figures/*.yaml") // the pattern is a good one
	for i, f := range files {
		files[i] = strings.TrimSuffix(strings.TrimPrefix(f, "figures/"), ".yaml")
	}
	return files
}

// Of gives the figures of a bundled study, or of a file.
func Of(nameOrPath string) ([]Figure, error) {
	if yamlfile.IsPath(nameOrPath) {
		data, err := yamlfile.ReadGiven(nameOrPath)
		if err != nil {
			return nil, fmt.Errorf("reading figures: %w", err)
		}
		return read(nameOrPath, "", data)
	}
	if !slices.Contains(Names(), nameOrPath) {
		return nil, fmt.Errorf("no figures of %q: there are those of %s, or of a .yaml file", nameOrPath, strings.Join(Names(), ", "))
	}
	data, err := studies.FS.ReadFile("figures/" + nameOrPath + ".yaml")
	if err != nil {
		return nil, err
	}
	return read("studies/figures/"+nameOrPath+".yaml", nameOrPath, data)
}

// read reads a file of figures and checks it. Source is the study's key where
// the file names none.
func read(path, source string, data []byte) ([]Figure, error) {
	p := &yamlfile.Problems{}
	var doc file
	if format.Decode(&yamlfile.Decoder{Path: path, Problems: p}, data, &doc, "the file") == nil {
		return nil, p.Err()
	}
	if doc.Source.Text != "" {
		source = doc.Source.Text
	}
	var out []Figure
	for i := range doc.Figures {
		e := &doc.Figures[i]
		f := Figure{Source: source, Name: e.Name.Text, Shows: e.Shows.Text, Title: e.Title.Text, Kind: Kind(e.Kind.Text), Table: e.Table.Text,
			Workload: e.Workload.Text, Metric: e.Metric.Text, Over: e.Over.Text, Part: e.Part.Text, Note: e.Note.Text, Because: e.Because.Text}
		for _, r := range e.Rows {
			f.Rows = append(f.Rows, r.Text)
		}
		if slices.ContainsFunc(out, func(o Figure) bool { return o.Name == f.Name }) {
			p.Add(e.Name.At, "there are two figures "+f.Name, "another name")
		}
		check(e, &f, p)
		out = append(out, f)
	}
	if p.Any() {
		return nil, p.Err()
	}
	return out, nil
}

// check asks for what the kind needs, and for published words that there are.
func check(e *entry, f *Figure, p *yamlfile.Problems) {
	given := map[string]bool{"table": f.Table != "", "rows": len(f.Rows) > 0, "workload": f.Workload != "", "metric": f.Metric != "",
		"over": f.Over != "", "part": f.Part != "", "because": f.Because != ""}
	keys := needs[f.Kind]
	if f.Kind == "" { // it was said
		return
	}
	for _, k := range keys.must {
		if !given[k] {
			p.Add(e.at, fmt.Sprintf("the figure %s of kind %s has no key %s", f.Name, f.Kind, k), "it")
		}
	}
	for _, k := range []string{"table", "rows", "workload", "metric", "over", "part", "because"} {
		if given[k] && !slices.Contains(keys.must, k) && !slices.Contains(keys.may, k) {
			p.Add(e.at, fmt.Sprintf("the figure %s of kind %s has the key %s", f.Name, f.Kind, k), "no such key in this kind")
		}
	}
	if f.Table == "" {
		return
	}
	if f.Part == Course { // published is what each container adds, or how long it takes
		p.Add(e.Table.At, fmt.Sprintf("the figure %s of the part %s has the key table", f.Name, f.Part), "no such key: its line is over time, and no published number is")
	}
	values := published.Find(published.Query{Source: f.Source, Table: f.Table})
	if len(values) == 0 {
		p.Add(e.Table.At, "nothing is known of a table "+yamlfile.Quote(f.Table)+" of "+yamlfile.Quote(f.Source), "a table of published values")
		return
	}
	for _, r := range e.Rows {
		if !slices.ContainsFunc(values, func(v published.Value) bool { return v.Row() == r.Text }) {
			p.Add(r.At, fmt.Sprintf("%s has no row %s", f.Table, yamlfile.Quote(r.Text)), "a row of that table")
		}
	}
}

// needs are the keys of each kind.
var needs = map[Kind]struct{ must, may []string }{
	Bars:   {[]string{"table"}, []string{"rows"}},
	Curves: {[]string{"workload", "metric", "over"}, nil},
	Ramps:  {[]string{"workload", "part"}, []string{"table", "rows"}},
	Boxes:  {[]string{"workload", "metric"}, nil},
	Series: {[]string{"workload", "metric"}, nil},
	None:   {[]string{"because"}, nil},
}
