package published

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// everartsData is the whole data set of everarts2020; where it comes from and
// under which licence stands beside it.
//
//go:embed everarts2020/data.csv.gz
var everartsData []byte

// Repetition is one row of everarts2020's data set. Times are milliseconds;
// what was not measured is NaN.
type Repetition struct {
	Manager, Image, Runtime, Storage string
	Rootless                         bool
	Workload, Size                   string // Size is empty where the workload has none
	Number                           int    // from 1
	// Create, Start and Exec are one command each, Response is from then to the
	// server's first answer, Ping a round trip.
	Create, Start, Exec, Response, Ping float64
}

// Configuration is the row's environment as the tables name it, without the image.
func (r Repetition) Configuration() string {
	if r.Rootless {
		return r.Manager + "/" + r.Runtime + "/" + r.Storage + "/rootless"
	}
	return r.Manager + "/" + r.Runtime + "/" + r.Storage
}

var everarts = sync.OnceValue(func() []Repetition {
	in, err := gzip.NewReader(bytes.NewReader(everartsData))
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	lines := csv.NewReader(in)
	lines.FieldsPerRecord = 13
	all, err := lines.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	out := make([]Repetition, 0, len(all)-1)
	for _, c := range all[1:] {
		n, err := strconv.Atoi(c[7])
		if err != nil {
			panic(fmt.Sprintf("published: %v", err))
		}
		out = append(out, Repetition{Manager: c[0], Image: c[1], Runtime: c[2], Storage: c[3], Rootless: c[4] == "yes",
			Workload: c[5], Size: c[6], Number: n,
			Create: number(c[8]), Start: number(c[9]), Exec: number(c[10]), Response: number(c[11]),
			// The column is called ping_ms and holds seconds, as the authors' files do.
			Ping: 1000 * number(c[12])})
	}
	return out
})

// EverartsData lists the data set of everarts2020 in the order of its file. The
// list is the caller's own.
func EverartsData() []Repetition { return slices.Clone(everarts()) }

// dropped is how many of the largest values everarts2020's figures leave out
// before they take the mean.
const dropped = 5

// trimmedMean is everarts2020's statistic: the mean without the five largest
// values. It is NaN where nothing is left.
func trimmedMean(values []float64) float64 {
	sorted := stats.Sorted(values)
	if len(sorted) <= dropped {
		return math.NaN()
	}
	kept, sum := sorted[:len(sorted)-dropped], 0.0
	for _, v := range kept {
		sum += v
	}
	return sum / float64(len(kept))
}

// everartsPhases are the columns of the data set.
var everartsPhases = []struct {
	metric string
	of     func(*Repetition) float64
}{
	{"create", func(r *Repetition) float64 { return r.Create }},
	{"start", func(r *Repetition) float64 { return r.Start }},
	{"exec", func(r *Repetition) float64 { return r.Exec }},
	{"response", func(r *Repetition) float64 { return r.Response }},
	{"ping", func(r *Repetition) float64 { return r.Ping }},
}

// EverartsTable is the name under which the values of a workload of
// everarts2020's data set are found: "Data set, Hello World".
func EverartsTable(workload string) string { return "Data set, " + workload }

// everartsValues sums the data set up: one value for each configuration, image,
// workload, size and column, by the authors' own statistic, and the median of
// the same values with its interval.
var everartsValues = sync.OnceValue(func() []Value {
	type key struct{ configuration, image, workload, size string }
	at := map[key]int{}
	var groups [][]*Repetition
	rows := everarts()
	for i := range rows {
		r := &rows[i]
		k := key{r.Configuration(), r.Image, r.Workload, r.Size}
		g, ok := at[k]
		if !ok {
			g, at[k] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], r)
	}
	var out []Value
	for _, g := range groups {
		first := g[0]
		engine, variant, _ := strings.Cut(first.Configuration(), "/")
		name := strings.ReplaceAll(strings.ToLower(first.Workload), " ", "-")
		if first.Size != "" {
			name += "-" + first.Size
		}
		for _, p := range everartsPhases {
			var values []float64
			for _, r := range g {
				if v := p.of(r); !math.IsNaN(v) {
					values = append(values, v)
				}
			}
			if len(values) == 0 {
				continue
			}
			v := Value{Source: "everarts2020", Table: EverartsTable(first.Workload), Engine: engine, Variant: variant, Image: first.Image,
				Workload: name, Metric: p.metric, Unit: "ms", Better: record.LowerIsBetter,
				Value: trimmedMean(values), CI95: math.NaN(), SD: math.NaN(),
				Note: fmt.Sprintf("mean of %d values without the %d largest", len(values), dropped)}
			sorted := stats.Sorted(values)
			v.Raw, v.Median = values, &Median{Value: stats.Median(sorted)}
			if i, ok := stats.MedianInterval(sorted, 0.95); ok {
				v.Median.Lo, v.Median.Hi = i.Lo, i.Hi
			}
			out = append(out, v)
		}
	}
	return out
})
