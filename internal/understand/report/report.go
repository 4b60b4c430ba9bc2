// Package report renders results as text, Markdown, CSV, JSON and LaTeX.
//
// It is opinionated: a report computes nothing, all numbers come from the
// result. A number never stands without its n, its failures and its interval;
// a cell that is missing is shown with its reason; a unit holds for a whole
// column. Text that comes from containers or files is cleaned before it
// reaches a terminal. Each kind of result makes one document, which text,
// Markdown and LaTeX are written from; CSV and JSON are written from the result.
//
// Why it is so: docs/decisions/reports.md.
package report

import (
	"errors"
	"io"
	"strings"

	"plimsoll/internal/common/csvfile"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
)

// Options are for Write. The zero value is a good default.
type Options struct {
	// Metric is the only metric to rank by; empty takes the result's choice.
	Metric string
	// Sort is the metric to sort by, or "plan" for the study's order; empty
	// takes the result's choice, else each table's own metric.
	Sort string
	// Color uses ANSI colours (text only). The caller minds NO_COLOR.
	Color bool
	// Width is that of the terminal, in columns; 0 is 100 (text only).
	Width int
	// ASCII writes nothing beyond ASCII (text only).
	ASCII bool
	// CSV is how text is written (csv only).
	CSV csvfile.Options
	// Audit writes the equivalence audit instead of the result.
	Audit bool
	// Overhead writes the overhead against this baseline instead of the
	// result: native, floor, host, or AnyBaseline.
	Overhead string
	// Over writes the curves over this numeric parameter instead of the result:
	// its name, or AnyParameter.
	Over string
	// Papers writes the published tables beside the run's numbers, and nothing
	// else.
	Papers bool
	// Marks draws the medians of the blocks beside the intervals, where the width
	// allows: for terminals that are able (text only).
	Marks bool
	// Brief leaves out what is behind the rankings (markdown only).
	Brief bool
	// NoPlot leaves the picture of the intervals out (text only).
	NoPlot bool
	// Screen writes the answer on one screen in place of all that there is, where
	// the result has one (text only).
	Screen *Screen
}

// AnyBaseline is the Overhead against the first of native, floor and host that
// ran.
const AnyBaseline = "any"

// planOrder is the Sort that keeps the study's order.
const planOrder = "plan"

var resultFormats = kindOf("a result", resultDocument,
	format[*analyze.Result]{"csv", asCSV(writeCSV)},
	format[*analyze.Result]{"json", asJSON[*analyze.Result]},
	format[*analyze.Result]{"latex", in(document.LaTeX, resultDocument)},
)

// Formats lists the formats that there are.
func Formats() []string { return resultFormats.Formats() }

// Write renders the result in a format.
func Write(w io.Writer, name string, res *analyze.Result, opts Options) error {
	if opts.Audit {
		if res.Audit == nil {
			return errors.New("this result has no equivalence audit: it was written by an older plimsoll; make it again from the run's directory")
		}
		return auditFormats.Write(w, name, res, opts)
	}
	if opts.Papers {
		if len(res.Papers) == 0 {
			return errNoPapers
		}
		return papersFormats.Write(w, name, res, opts)
	}
	opts.Metric = metricNamed(res, opts.Metric)
	if err := checkMetric(res, opts.Metric); err != nil {
		return err
	}
	if opts.Sort != planOrder {
		if err := checkMetric(res, opts.Sort); err != nil {
			return err
		}
	}
	if opts.Overhead != "" {
		o, err := overheadWanted(res, opts)
		if err != nil {
			return err
		}
		return overheadFormats.Write(w, name, overheadOf{res, o}, opts)
	}
	if opts.Over != "" {
		o, err := overWanted(res, opts)
		if err != nil {
			return err
		}
		return overFormats.Write(w, name, o, opts)
	}
	if opts.Screen != nil && name == "text" {
		if err := writeScreen(w, res, opts); !errors.Is(err, errNoScreen) {
			return err
		}
	}
	return resultFormats.Write(w, name, res, opts)
}

// checkMetric refuses a metric that no workload of the run has.
func checkMetric(res *analyze.Result, id string) error {
	if id == "" {
		return nil
	}
	var known []string
	for _, w := range res.Workloads {
		for _, t := range w.Tables {
			if t.Metric.ID == id {
				return nil
			}
			known = analyze.Also(known, t.Metric.ID)
		}
	}
	return &analyze.ChoiceError{What: "metric", Word: id, Known: known}
}

// metricNamed is the id of the metric that a word means: an id, or a title as it
// stands in a table.
func metricNamed(res *analyze.Result, word string) string {
	titled := word
	for _, w := range res.Workloads {
		for _, t := range w.Tables {
			switch {
			case t.Metric.ID == word:
				return word
			case titled == word && strings.EqualFold(t.Metric.Title, word):
				titled = t.Metric.ID
			}
		}
	}
	return titled
}
