// Package export writes a run for other programs: every value as a table (CSV,
// JSON, Parquet), Go's benchmark format, hyperfine's JSON, OpenMetrics, LaTeX.
//
// It is opinionated: nothing is rounded, a metric keeps its name wherever the
// format has room for it, and trials that failed are rows with a reason, never
// numbers. What a format cannot hold is left out and docs/exports.md says so.
package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/csvfile"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/report"
)

// Options are for Write.
type Options struct {
	// Metric is the only metric to write; empty writes all, or the one that the
	// result shows first where the format holds a single one.
	Metric string
	// CSV is how text is written (csv only).
	CSV csvfile.Options
}

type format struct {
	name   string
	write  func(io.Writer, *record.Reader, Options) error
	binary bool
}

var formats = []format{
	{name: "csv", write: writeCSV},
	{name: "json", write: writeJSON},
	{name: "parquet", write: writeParquet, binary: true},
	{name: "latex", write: writeLaTeX},
	{name: "benchfmt", write: writeBenchfmt},
	{name: "hyperfine", write: writeHyperfine},
	{name: "openmetrics", write: writeOpenMetrics},
}

// Formats lists the formats that there are.
func Formats() []string {
	return lists.Map(formats, func(f format) string { return f.name })
}

// Binary says whether a format is none for a terminal.
func Binary(name string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.name == name && f.binary })
}

// Write writes a run in a format.
func Write(w io.Writer, name string, r *record.Reader, opts Options) error {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return fmt.Errorf("no export format %q: choose one of %s", name, strings.Join(Formats(), ", "))
	}
	if err := checkMetric(r.Run(), opts.Metric); err != nil {
		return err
	}
	return formats[i].write(w, r, opts)
}

// checkMetric refuses a metric that no workload of the run has.
func checkMetric(run *record.Run, id string) error {
	if id == "" {
		return nil
	}
	var known []string
	for i := range run.Workloads {
		for _, m := range run.Workloads[i].AllMetrics() {
			if m.ID == id {
				return nil
			}
			if !slices.Contains(known, m.ID) {
				known = append(known, m.ID)
			}
		}
	}
	return &analyze.ChoiceError{What: "metric", Word: id, Known: known}
}

func writeLaTeX(w io.Writer, r *record.Reader, opts Options) error {
	res, err := evaluate.Run(r, evaluate.Options{})
	if err != nil {
		return err
	}
	return report.Write(w, "latex", res, report.Options{Metric: opts.Metric})
}

// betterOf is the direction of a metric, lower where it names none.
func betterOf(m *record.Metric) record.Direction {
	return cmp.Or(m.Better, record.LowerIsBetter)
}
