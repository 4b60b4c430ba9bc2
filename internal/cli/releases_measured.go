//go:build linux

package cli

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/pflag"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// measured runs, and tells what came of it.
func (f *releasesFlags) measured(ctx context.Context, w World, o run.Options) error {
	metrics, err := f.chosen(o.Plan)
	if err != nil {
		return err
	}
	beware(o)
	if text := course(o.Plan.Protocol, false, true); text != "" {
		o.Progress.Remark(text)
	}
	o.Plan.Study.Metrics = metrics // which the record has, to be told again
	return smallRun(ctx, w, o, func(res *analyze.Result) error { return f.tell(w, res, o.Dir, metrics) })
}

// tell prints the releases, or draws them.
func (f *releasesFlags) tell(w World, res *analyze.Result, dir string, metrics []string) error {
	threshold, err := percentage("threshold", f.threshold)
	if err != nil {
		return err
	}
	from, err := openRun(dir)
	if err != nil {
		return err
	}
	r, err := releases.Of(res, from, releases.Options{Metrics: metrics, Threshold: threshold, Seed: 1})
	if err != nil {
		return withHint(fail(Failed, "run %s: %w", res.Run.ID, err), "plimsoll report %s says what there is", shortPath(dir))
	}
	if isPicture(f.format) {
		return writePicture(w, f.output, func(out io.Writer) error { return plot.Releases(out, f.format, r, f.picture.Options) })
	}
	return tell(w, &f.printing, report.Releases, r)
}

// again tells of a run that was measured before, by this command or by a study whose
// environments differ in the build.
func (f *releasesFlags) again(w World, dir string, fl *pflag.FlagSet) error {
	from, err := openRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return withHint(fail(Usage, "%q is neither a run nor a program whose builds an engine can use", dir), "plimsoll releases PROGRAM NAME=FILE NAME=FILE measures; programs are %s", yamlfile.OneOf(buildable(w)))
	}
	if err != nil {
		return err
	}
	if _, err := releases.Program(from.Run()); err != nil {
		return withHint(fail(Usage, "%s is not a run of plimsoll releases: %w", shortPath(dir), err), "plimsoll report %s shows it", shortPath(dir))
	}
	if err := toldAgain(fl, "format", "output", "ascii", "raw-csv", "metric", "threshold", "width", "dpi", "dark"); err != nil {
		return err
	}
	res, err := readResult(dir)
	if err != nil {
		return err
	}
	metrics := f.metrics
	if len(metrics) == 0 {
		metrics = from.Run().Study.Metrics
	}
	return f.tell(w, res, dir, metrics)
}
