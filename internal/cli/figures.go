package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/view"
)

// figuresFlag is --figures: a study, or one figure of it.
func figuresFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "figures", "", "print or draw the published figures of this study, this run's next to them; STUDY/FIGURE picks one, and a .yaml file brings its own")
	completes(c, "figures", cobra.FixedCompletions(figures.Names(), cobra.ShellCompDirectiveDefault))
}

// figuresNamed are those that the flag names.
func figuresNamed(name string) ([]figures.Figure, error) {
	study, one, single := name, "", false
	if i := strings.LastIndexByte(name, '/'); i >= 0 && slices.Contains(figures.Names(), name[:i]) {
		study, one, single = name[:i], name[i+1:], true
	}
	list, err := figures.Of(study)
	if err != nil {
		return nil, &exitError{status: Usage, err: err}
	}
	if !single {
		return list, nil
	}
	var known []string
	for _, f := range list {
		if f.Name == one {
			return []figures.Figure{f}, nil
		}
		known = append(known, f.Name)
	}
	return nil, fail(Usage, "no figure %s of %s: there are %s", yamlfile.Quote(one), study, strings.Join(known, ", "))
}

// figuresReport prints or draws the figures of one run.
func figuresReport(w World, dirs []string, f reportFlags) error {
	if len(dirs) > 1 {
		return withHint(fail(Usage, "figures are made from one run, and %d are named", len(dirs)), "draw them one by one")
	}
	if f.metric != "" {
		return fail(Usage, "--metric does not go with --figures: each figure has its own")
	}
	list, err := figuresNamed(f.figures)
	if err != nil {
		return err
	}
	res, err := readWith(dirs[0], evaluate.Options{Values: true, Levels: view.Levels})
	if err != nil {
		return err
	}
	all := figure.Of(res, list)
	if !isPicture(f.format) {
		if plot.HasSeries(all) {
			d, err := viewOf(dirs[0], res)
			if err != nil {
				return err
			}
			plot.FillSeries(all, d)
		}
		return show(w, f.output, f.style, func(out io.Writer, o report.Options) error { return report.Figures(out, f.format, res, all, o) })
	}
	if err := noTerminal(w, f.format, f.output); err != nil {
		return err
	}
	if len(all) > 1 && f.output == "" {
		return withHint(fail(Usage, "%s has %d figures, and a picture shows one", f.figures, len(all)), "-o FILE.%s writes FILE-FIGURE.%s of each, and --figures %s/%s is one", f.format, f.format, f.figures, all[0].Name)
	}
	d, err := viewOf(dirs[0], res)
	if err != nil {
		return err
	}
	return drawFigures(w, f, all, d)
}

// drawFigures draws each figure that there is something of, and says why the
// others are not drawn.
func drawFigures(w World, f reportFlags, all []figure.Figure, d *view.Data) error {
	drawn := 0
	for i := range all {
		path := f.output
		if len(all) > 1 {
			ext := filepath.Ext(path)
			path = strings.TrimSuffix(path, ext) + "-" + all[i].Name + ext
		}
		var b bytes.Buffer
		err := plot.DrawFigure(&b, f.format, &all[i], d, f.picture.Options)
		switch {
		case errors.Is(err, plot.ErrNoData) && len(all) > 1:
			fmt.Fprintln(w.Stderr, statusPrefix+err.Error())
			continue
		case errors.Is(err, plot.ErrNoData):
			return fail(Failed, "%w", err)
		case err != nil:
			return fail(Usage, "%w", err)
		}
		if err := writeTo(w, path, func(out io.Writer) error { _, err := b.WriteTo(out); return err }); err != nil {
			return fail(Failed, "writing the picture: %w", err)
		}
		if drawn++; len(all) > 1 {
			fmt.Fprintln(w.Stderr, statusPrefix+"wrote "+path)
		}
	}
	if drawn == 0 {
		return fail(Failed, "none of the figures of %s could be drawn from this run", f.figures)
	}
	return nil
}
