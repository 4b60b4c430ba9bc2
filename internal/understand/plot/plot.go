// Package plot draws a run as static pictures, for papers, READMEs and readers
// without JavaScript: SVG, PNG, PDF.
//
// It is opinionated. It computes nothing: each mark is a number of view.Data,
// in its place on an axis. An environment has its own row, with its n and its
// failures, and one without a value says why. An axis is logarithmic where the
// values span more than a decade. The same data give the same bytes.
//
// Why it is so: docs/decisions/reports.md.
package plot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/understand/view"
)

// Chart is a kind of picture.
type Chart struct {
	Name  string // as the command line has it
	Title string
	What  string // a sentence
}

// ErrNoData is what Draw's error is where the run has nothing for this chart.
var ErrNoData = errors.New("no data for this chart")

// Options are for Draw. The zero value is a good default.
type Options struct {
	// Workload is an id; empty: the first that has something to draw.
	Workload string
	// Metric is an id; empty: the one that stands for the workload, view.Work's
	// First. Of curves it is the column.
	Metric string
	// Baseline is native, floor or host; empty: the first of these that ran.
	Baseline string
	// Over is the numeric parameter of the chart parameter; empty: each that there
	// is.
	Over string
	// Width and Height are in points, 1/72 inch; 0 is 640, and as high as the
	// rows need. A smaller height than they need is not kept, and a heat map is as
	// wide as its numbers need.
	Width, Height float64
	// Dark draws on a dark ground. An SVG follows the reader's scheme without it.
	Dark bool
	// DPI is the resolution of a PNG; 0 is 144.
	DPI int
}

func (o Options) normal() (Options, error) {
	o.Width = cmp.Or(o.Width, 640)
	o.DPI = cmp.Or(o.DPI, 144)
	switch {
	case !(o.Width >= 240 && o.Width <= 4000):
		return o, fmt.Errorf("a width of %g points: it can be 240 to 4000", o.Width)
	case !(o.Height >= 0 && o.Height <= 10000):
		return o, fmt.Errorf("a height of %g points: it can be up to 10000", o.Height)
	case o.DPI < 36 || o.DPI > 600:
		return o, fmt.Errorf("%d dots per inch: it can be 36 to 600", o.DPI)
	}
	return o, nil
}

// charts are all that there are. A new one is a file with its maker, and a
// line here.
var charts = []struct {
	Chart
	make func(d *view.Data, o Options) (*picture, error)
}{
	{Chart{"ranking", "Ranking", "medians with their 95 % intervals, native and floor as lines, and which cannot be told apart"}, ranking},
	{Chart{"overhead-ratios", "Ratios to a baseline", "how many times a baseline's value each environment has, with 95 % intervals"}, ratios},
	{Chart{"phases", "Phases", "the life cycle from request to removed: medians of its steps, stacked"}, phases},
	{Chart{"distributions", "Distributions", "each trial a point, with a box from quartile to quartile and whiskers to 2.5 and 97.5 %"}, distributions},
	{Chart{"boxes", "Box plots", "a box from quartile to quartile with whiskers to the furthest values within 1.5 times that distance; fewer than five values are points"}, boxPlots},
	{Chart{"ecdf", "Cumulative distributions", "which share of the trials took at most that long"}, ecdf},
	{Chart{"heatmap", "Overhead", "the overhead of each environment in each workload against a baseline"}, heatmap},
	{Chart{"curves", "Time series", "what was sampled during the trials: the median, and the quartiles around it"}, curves},
	{Chart{"parameter", "Over a parameter", "a metric over a numeric parameter of a workload: medians with their 95 % intervals"}, parameterPicture},
	{Chart{"density", "Density", "start time and memory over the number of containers that already run"}, densityPicture},
	{Chart{"order", "Run order", "every trial in the order in which it ran, relative to its environment's median: drift shows"}, order},
	{Chart{"waterfall", "What it is made of", "what goes from an engine's time with each mechanism that is taken away, down to the floor"}, waterfall},
	{Chart{"load", "Load", "the quantiles of the time to ready under an open-loop load"}, loadPicture},
}

// Names lists the charts.
func Names() []Chart {
	out := make([]Chart, len(charts))
	for i, c := range charts {
		out[i] = c.Chart
	}
	return out
}

// Formats lists the formats.
func Formats() []string { return []string{"svg", "png", "pdf"} }

// Binary says whether a format can't go to a terminal.
func Binary(format string) bool { return format == "png" || format == "pdf" }

// Draw writes one chart of a run. An error that is ErrNoData says that the run
// has nothing for this chart.
func Draw(w io.Writer, format, name string, d *view.Data, o Options) error {
	o, err := o.normal()
	if err != nil {
		return err
	}
	var known []string
	for _, c := range charts {
		if c.Name != name {
			known = append(known, c.Name)
			continue
		}
		p, err := c.make(d, o)
		if err != nil {
			return fmt.Errorf("drawing %s: %w", name, err)
		}
		p.name = name
		p.of(&d.Run)
		return p.write(w, format, o)
	}
	return fmt.Errorf("no chart %q: choose one of %s", name, strings.Join(known, ", "))
}

// write draws a picture in a format.
func (p *picture) write(w io.Writer, format string, o Options) error {
	if !slices.Contains(Formats(), format) {
		return fmt.Errorf("no format %q of pictures: choose one of %s", format, strings.Join(Formats(), ", "))
	}
	p.layOut(o)
	switch format {
	case "svg":
		return p.writeSVG(w, o)
	case "png":
		return p.writePNG(w, o)
	}
	return p.writePDF(w, o)
}

func noData(format string, a ...any) error {
	return fmt.Errorf(format+": %w", append(a, ErrNoData)...)
}
