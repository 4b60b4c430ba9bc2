package cli

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// pictureFlags are how a picture is drawn.
type pictureFlags struct {
	chart string
	plot.Options
}

// pictureOnly are the flags that say nothing of a table.
var pictureOnly = []string{"chart", "baseline", "width", "dark", "dpi"}

func (f *pictureFlags) add(c *cobra.Command) {
	f.chart = plot.Names()[0].Name
	var names, help []string
	for _, n := range plot.Names() {
		names = append(names, n.Name)
		help = append(help, n.Name+"\t"+n.What)
	}
	fl := c.Flags()
	fl.Var(choice{&f.chart, names}, "chart", "the chart of a picture")
	completes(c, "chart", completeWords(help...))
	choiceFlag(c, &f.Baseline, "baseline", "the baseline of a picture (default: the first that ran)", analyze.Baselines...)
	f.addSize(c)
}

func (f *pictureFlags) addSize(c *cobra.Command) {
	fl := c.Flags()
	fl.Float64Var(&f.Width, "width", 0, "width of a picture in points, 1/72 inch (default 640)")
	fl.BoolVar(&f.Dark, "dark", false, "draw on a dark background (without it an SVG follows the reader's colour scheme)")
	fl.IntVar(&f.DPI, "dpi", 0, "resolution of a PNG in dots per inch (default 144)")
}

// misplaced refuses flags of pictures beside another format.
func misplaced(c *cobra.Command, format string) error {
	for _, name := range pictureOnly {
		if fl := c.Flags().Lookup(name); fl != nil && fl.Changed {
			return withHint(fail(Usage, "--%s is for pictures, and %s is not one", name, format), "give --format %s", strings.Join(plot.Formats(), " or "))
		}
	}
	return nil
}

func isPicture(format string) bool { return slices.Contains(plot.Formats(), format) }

// drawReport draws a chart of one run.
func drawReport(w World, dirs []string, f reportFlags) error {
	if len(dirs) > 1 {
		return withHint(fail(Usage, "a picture shows one run, and %d are named", len(dirs)), "draw them one by one")
	}
	if f.audit || f.overhead != "" || f.papers {
		return withHint(fail(Usage, "--audit, --overhead and --papers are tables"), "choose a picture with --chart")
	}
	if err := noTerminal(w, f.format, f.output); err != nil {
		return err
	}
	d, err := f.view(dirs[0])
	if err != nil {
		return err
	}
	o := f.picture.Options
	if o.Metric = f.metric; f.over != report.AnyParameter {
		o.Over = f.over
	}
	return writePicture(w, f.output, func(out io.Writer) error { return plot.Draw(out, f.format, f.picture.chart, d, o) })
}

// noTerminal refuses to write what no terminal shows to one.
func noTerminal(w World, format, output string) error {
	if output == "" && plot.Binary(format) && w.Width() > 0 {
		return withHint(fail(Usage, "%s can't go to a terminal", format), "write it to a file: -o FILE")
	}
	return nil
}

// writePicture draws a picture whole before it writes any of it.
func writePicture(w World, output string, draw func(io.Writer) error) error {
	var b bytes.Buffer
	switch err := draw(&b); {
	case errors.Is(err, plot.ErrNoData):
		return fail(Failed, "%w", err)
	case err != nil:
		return fail(Usage, "%w", err)
	}
	err := writeTo(w, output, func(out io.Writer) error { _, err := b.WriteTo(out); return err })
	if err != nil {
		return fail(Failed, "writing the picture: %w", err)
	}
	return nil
}
