package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// hostFlags are how runs of several hosts are read.
type hostFlags struct {
	by      string
	against string
	each    bool
	// published is a study, or empty.
	published string
}

func (f *hostFlags) add(c *cobra.Command) {
	f.addBy(c)
	c.Flags().StringVar(&f.against, "against", "", "with several hosts: what environments are held against, a baseline or an environment (default: the first of native, floor and host that ran, else the first environment)")
	c.Flags().BoolVar(&f.each, "each", false, "print several runs one after the other, from however many hosts they are")
	choiceFlag(c, &f.published, "published", "print the published values of a study on several hosts in place of runs", published.RawSources()...)
	completes(c, "against", fromRuns(environmentsOf, analyze.Baselines...))
}

// runsOf are the runs that dirs name, if they are of several hosts: each is a run or a
// folder of runs. It is nil where they are not, and each is to be read by itself.
func (f *hostFlags) runsOf(dirs []string) ([]string, error) {
	if f.each || len(dirs) == 1 && holdsRun(dirs[0]) {
		return nil, nil
	}
	runs, _, err := record.Find(dirs)
	if err != nil {
		return nil, nil //nolint:nilerr // reading each by itself says what is wrong, with a hint
	}
	if n, err := f.settle(runs); err != nil || n < 2 {
		return nil, err
	}
	return runs, nil
}

// ofOneMachine refuses a feature table where there are several hosts.
func ofOneMachine(table, command string, all []hostRuns) error {
	if table == "" {
		return nil
	}
	return withHint(fail(Usage, "a feature table is of one machine, and the runs are of %d hosts", len(all)), "plimsoll %s %s --features %s takes it", command, all[0].dirs[0], table)
}

// gather reads runs one by one, and says what they say together. also may be nil, and else
// gets each with its host's label.
func (f *hostFlags) gather(runs []string, metric string, read func(dir string) (*analyze.Result, error), also func(label string, res *analyze.Result)) (*hosts.Hosts, error) {
	g := hosts.NewGathering(hosts.Options{Metric: metric, Against: f.against, By: hosts.By(f.by), Resume: resumeOf})
	for _, dir := range runs {
		res, err := read(dir)
		if err != nil {
			return nil, err
		}
		if err := g.Add(res, dir); err != nil {
			return nil, withHint(fail(Failed, "summarising runs of several hosts: %w", err), "leave it out, or give --each to print the runs one after the other")
		}
		if also != nil {
			also(g.LabelOf(dir), res)
		}
	}
	h, err := g.Hosts()
	if err != nil {
		if _, ok := errors.AsType[*analyze.ChoiceError](err); ok {
			return nil, chosen(err)
		}
		return nil, fail(Usage, "summarising runs of several hosts: %w", err)
	}
	return h, nil
}

// resumeOf says how the run of a host is gone on with: from where it was begun, which a
// ledger beside it tells, else on the host.
func resumeOf(dir string) string {
	folder := filepath.Dir(dir)
	if _, err := os.Lstat(filepath.Join(folder, record.HostsFile)); err == nil {
		return "plimsoll run --resume " + harmless.ShellWord(folder)
	}
	return "run the playbook that began it again, or go on there with the record by plimsoll run --resume " + harmless.ShellWord(dir)
}

// hostsReport prints what runs of several hosts say together.
func hostsReport(w World, c *cobra.Command, runs []string, f *reportFlags) error {
	picture := isPicture(f.format)
	if !picture {
		if err := misplaced(c, f.format); err != nil {
			return err
		}
	}
	for _, name := range []string{"chart", "baseline"} {
		if c.Flags().Changed(name) {
			return withHint(fail(Usage, "--%s is for a picture of one run: several hosts have one picture, the forest plot of their ratios", name), "leave it out; --against chooses what environments are held against, and --metric what is drawn")
		}
	}
	if f.format == htmlFormat && f.output == "" && w.Width() > 0 {
		return withHint(fail(Usage, "a page can't go to a terminal"), "write it to a file: -o hosts.html")
	}
	if err := noTerminal(w, f.format, f.output); err != nil {
		return err
	}
	if !picture && f.format != htmlFormat && !slices.Contains(report.Hosts.Formats(), f.format) {
		return withHint(fail(Usage, "runs of several hosts are not written as %s", f.format), "give --each to write the runs one after the other, or one of the formats %s", strings.Join(slices.Concat(report.Hosts.Formats(), []string{htmlFormat}, plot.Formats()), ", "))
	}
	var h *hosts.Hosts
	var err error
	every := factors.EveryOnHosts(factors.Options{Metric: f.metric, Bare: true})
	var judging hosts.Judging
	if f.published != "" {
		h, err = hosts.Published(f.published)
	} else {
		h, err = f.gather(runs, f.metric, func(dir string) (*analyze.Result, error) { return f.read(dir, evaluate.Options{}) }, func(label string, res *analyze.Result) {
			if f.format == htmlFormat {
				_ = every.Add(label, res) // the page says of what nothing can be said
				judging.Add(label, res)
			}
		})
	}
	if err != nil {
		return err
	}
	switch {
	case picture:
		o := f.picture.Options
		o.Metric = f.metric
		return writePicture(w, f.output, func(out io.Writer) error { return plot.Hosts(out, f.format, h, o) })
	case f.format == htmlFormat:
		var b bytes.Buffer // whole, before any of it is written
		if err := page.WriteHosts(&b, h, every.Result(), judging.Claims()); err != nil {
			return fail(Failed, "writing the report: %w", err)
		}
		if err := writeTo(w, f.output, func(out io.Writer) error { _, err := b.WriteTo(out); return err }); err != nil {
			return fail(Failed, "writing the report: %w", err)
		}
		if f.output != "" {
			fmt.Fprintf(w.Stderr, "The report is %s: open it in a browser.\n", shortPath(f.output))
		}
		return nil
	}
	return show(w, f.output, f.style, func(out io.Writer, o report.Options) error { return report.Hosts.Write(out, f.format, h, o) })
}
