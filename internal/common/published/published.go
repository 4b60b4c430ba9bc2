// Package published holds what studies of container engines published: their
// values, their feature table, and who they are.
//
// It is opinionated: a published value is a citation. It bears its source and
// its table, it is shown in other columns and another style than what was
// measured here, and nothing computes with it.
//
// Why it is so: docs/decisions/findings.md.
package published

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/record"
)

// Value is one published number.
type Value struct {
	Source  string // key of the study, see Sources
	Table   string // "Table 3", "Figure 2"
	Engine  string
	Variant string // what tells two rows of an engine apart, or empty
	Image   string
	// Workload and Metric are the study's own words.
	Workload, Metric string
	Unit             string
	Better           record.Direction
	// Value is a mean. CI95 is the half-width of its 95 % interval, SD the
	// standard deviation; both are NaN where the study gives none.
	Value, CI95, SD float64
	Note            string
	// Raw are the study's own raw values, where those are here, and Median is
	// theirs.
	Raw    []float64
	Median *Median
}

// Median is a median with its 95 % interval; the ends are 0 where the values
// can't carry one.
type Median struct{ Value, Lo, Hi float64 }

// Name is the published engine with its variant, as in singularity/sif.
func (v Value) Name() string {
	if v.Variant == "" {
		return v.Engine
	}
	return v.Engine + "/" + v.Variant
}

// Row is the published workload and metric, as in redis/get/throughput.
func (v Value) Row() string { return v.Workload + "/" + v.Metric }

// Feature is a row of the published feature table, baresi2024's Table 2.
type Feature struct {
	Group, Name string
	// Cells are "yes", "partial" or "no", by engine.
	Cells map[string]string
}

//go:embed values.csv
var valuesCSV string

//go:embed gerdes2024.csv
var gerdesCSV string

//go:embed features.csv
var featuresCSV string

var values = sync.OnceValue(func() []Value {
	return slices.Concat(readValues(valuesCSV), khanValues(), readValues(gerdesCSV))
})

func readValues(text string) []Value {
	var out []Value
	for _, r := range rows(text, 13) {
		out = append(out, Value{Source: r[0], Table: r[1], Engine: r[2], Variant: r[3], Image: r[4], Workload: r[5], Metric: r[6],
			Unit: r[7], Better: record.Direction(r[8]), Value: number(r[9]), CI95: number(r[10]), SD: number(r[11]), Note: r[12]})
	}
	return out
}

// Values lists every number of a published table, in the order of the studies
// and of their tables. The list is the caller's own. What a published data set
// comes to is found by Find alone.
func Values() []Value { return slices.Clone(values()) }

// Query says which values are meant; an empty field means any. "none" as a
// Variant means a row without one.
type Query struct {
	Source, Table, Engine, Variant, Image, Workload, Metric string
}

// noVariant as a Query's Variant means a row without one.
const noVariant = "none"

// Find lists the values that a query means.
func Find(q Query) []Value {
	is := func(want, have string) bool { return want == "" || want == have }
	var out []Value
	all := of(q.Source, q.Table)
	for i := range all {
		v := &all[i]
		if is(q.Engine, v.Engine) && is(q.Image, v.Image) &&
			is(q.Workload, v.Workload) && is(q.Metric, v.Metric) && (is(q.Variant, v.Variant) || q.Variant == noVariant && v.Variant == "") {
			out = append(out, *v)
		}
	}
	return out
}

// of lists what a study published, in a table or in all; "" means any. Each claim and
// each row of a report asks for some, so that the lists are kept.
func of(source, table string) []Value {
	from := tables
	if source == "" || source == everarts2020 {
		from = withData
	}
	return from()[[2]string{source, table}]
}

const everarts2020 = "everarts2020"

// The lists by source and table, without the published data set, which is summed up for
// who asks for it alone, and with it.
var (
	tables   = sync.OnceValue(func() map[[2]string][]Value { return listed(values()) })
	withData = sync.OnceValue(func() map[[2]string][]Value { return listed(slices.Concat(values(), everartsValues())) })
)

func listed(all []Value) map[[2]string][]Value {
	out := map[[2]string][]Value{}
	for _, v := range all {
		for _, key := range [][2]string{{}, {v.Source}, {v.Source, v.Table}, {"", v.Table}} {
			out[key] = append(out[key], v)
		}
	}
	return out
}

// Of lists the values that a claim or a table names.
func Of(v record.PublishedValue) []Value {
	return Find(Query{Source: v.Source, Table: v.Table, Engine: v.Engine, Variant: v.Variant, Image: v.Image, Workload: v.Workload, Metric: v.Metric})
}

var engines = sync.OnceValue(func() []string {
	head, _, _ := strings.Cut(featuresCSV, "\r\n")
	return strings.Split(head, ",")[2:]
})

// Features lists the rows of the published feature table, in its order.
func Features() []Feature {
	var out []Feature
	names := engines()
	for _, r := range rows(featuresCSV, 2+len(names)) {
		f := Feature{Group: r[0], Name: r[1], Cells: map[string]string{}}
		for i, e := range names {
			f.Cells[e] = r[2+i]
		}
		out = append(out, f)
	}
	return out
}

// FeatureEngines lists the columns of the published feature table.
func FeatureEngines() []string { return slices.Clone(engines()) }

// Engine gives the name under which the studies have an engine of ours, which
// is another for Apptainer: it was called Singularity then.
func Engine(ours string) string {
	if ours == "apptainer" {
		return "singularity"
	}
	return ours
}

// Here is the name that an engine of the studies has here.
func Here(theirs string) string {
	if theirs == "singularity" {
		return "apptainer"
	}
	return theirs
}

// rows reads an embedded table without its head. The tables are part of the
// program, so that a bad one is a bug.
func rows(text string, columns int) [][]string {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = columns
	all, err := r.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	return all[1:]
}

func number(s string) float64 {
	if s == "" {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	return v
}
