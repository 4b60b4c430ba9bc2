package cli

import (
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/analyze"
	"plimsoll/internal/record"
	"plimsoll/internal/report"
	"plimsoll/internal/threshold"
	"plimsoll/internal/yamlfile"
)

// compareFlags are how two runs are compared, and what a gate lets pass.
type compareFlags struct {
	format, output          string
	ascii                   bool
	envs, filters           []string
	row, col                []string
	against, delta          string
	quantile                float64
	failAbove, file, noise  string
	strict, missing, unlike bool
}

func compareCommand(w World) *cobra.Command {
	f := compareFlags{format: "text", against: "auto"}
	c := &cobra.Command{
		Use:   "compare BASE [NEW]",
		Short: "Say what changed between two runs, or two environments of one, and gate on it",
		Long: `Compares what two runs have in common, by workload, metric and environment, or
two environments of one run (--env twice). Two runs share no block: their values
are divided by a baseline (native, floor) of the same block first, which takes out
how fast the machine was on either day.

--fail-above makes it a gate: it fails (status 3) where a whole interval is worse
by more than that, where a value is lost, or where trials fail more often. With
--strict, status 4 says that it could not tell.`,
		Example: `  plimsoll compare before after
  plimsoll compare before after --fail-above 5% --format junit -o gate.xml
  plimsoll compare before after --thresholds gate.yaml --strict
  plimsoll compare before after --filter metric=startup --row engine --col runtime
  plimsoll compare before after --quantile 95
  plimsoll compare run-1 --env crun --env runc`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, dirs []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			gate, err := f.thresholds()
			if err != nil {
				return err
			}
			if gate != nil {
				for _, r := range gate.Rules {
					// "*" is for all that is compared anyway.
					if r.Metric != "" && r.Metric != "*" && !r.Ignore {
						o.Metrics = append(o.Metrics, r.Metric)
					}
				}
			}
			changes, err := f.compare(dirs, o)
			if err != nil {
				return err
			}
			if gate != nil {
				if err := changes.Judge(*gate); err != nil {
					var no *analyze.RefusedError
					if errors.As(err, &no) {
						return withHint(fail(Usage, "%w", err), "%s", no.Advice)
					}
					return fail(Failed, "%w", err)
				}
			}
			if err := f.print(w, changes); err != nil {
				return err
			}
			return f.status(changes)
		},
	}
	formatFlag(c, &f.format, report.ChangesFormats()...)
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "write to this file instead of standard output")
	fl.BoolVar(&f.ascii, "ascii", false, "no characters beyond ASCII")
	fl.StringArrayVar(&f.envs, "env", nil, "an environment of the only run: give it twice, BASE first")
	fl.StringArrayVar(&f.filters, "filter", nil, "keep the cells with factor=level[,level]: environment, engine, workload, metric, or a factor such as runtime")
	fl.StringSliceVar(&f.row, "row", nil, "factors whose levels are the rows of one table")
	fl.StringSliceVar(&f.col, "col", nil, "factors whose levels are its columns")
	choiceFlag(c, &f.against, "against", "what two runs are divided by before they are compared; none: absolute values", "auto", "native", "floor", "host", "none")
	fl.Float64Var(&f.quantile, "quantile", 0, "compare this quantile too, in per cent: 95 needs 72 values on either side, 99 needs 368")
	fl.StringVar(&f.delta, "delta", "", "the smallest difference that matters (default: the study's, 1%)")
	fl.StringVar(&f.failAbove, "fail-above", "", "gate: fail where a metric is worse by more than this, such as 5%")
	fl.StringVar(&f.file, "thresholds", "", "gate: a YAML file with thresholds by metric, workload and environment")
	fl.StringVar(&f.noise, "noise", "", "refuse thresholds under the noise floor in this file, from plimsoll selftest --format json")
	fl.BoolVar(&f.strict, "strict", false, "gate: end with status 4 where it cannot tell")
	fl.BoolVar(&f.missing, "allow-missing", false, "gate: let pass what BASE has and NEW has not")
	fl.BoolVar(&f.unlike, "unlike", false, "gate in spite of another machine or another protocol")
	return c
}

var isPercentage = regexp.MustCompile(yamlfile.PercentPattern).MatchString

// percentage reads "5%" as 0.05; "" is 0.
func percentage(flag, s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !isPercentage(s) || v <= 0 || v > 100 {
		return 0, fail(Usage, "--%s is %q: expected a percentage above 0%% and at most 100%%, such as 5%%", flag, s)
	}
	return v / 100, nil
}

func (f *compareFlags) options() (analyze.CompareOptions, error) {
	o := analyze.CompareOptions{Row: f.row, Col: f.col}
	if f.against != "auto" {
		o.Against = f.against
	}
	var err error
	if o.Delta, err = percentage("delta", f.delta); err != nil {
		return o, err
	}
	if o.Quantile = f.quantile / 100; f.quantile != 0 && !(f.quantile >= 50 && f.quantile <= 99.9) {
		return o, fail(Usage, "--quantile is %g: expected per cent from 50 to 99.9, such as 95", f.quantile)
	}
	for _, s := range f.filters {
		one, err := analyze.ParseFilter(s)
		if err != nil {
			return o, fail(Usage, "--%w", err)
		}
		o.Filter = append(o.Filter, one)
	}
	return o, nil
}

// thresholds puts the gate together; nil where none is asked for.
func (f *compareFlags) thresholds() (*analyze.Thresholds, error) {
	limit, err := percentage("fail-above", f.failAbove)
	if err != nil {
		return nil, err
	}
	if limit == 0 && f.file == "" {
		if f.strict || f.missing || f.unlike || f.noise != "" {
			return nil, withHint(fail(Usage, "--strict, --allow-missing, --unlike and --noise are for a gate, and none is asked for"), "give --fail-above 5%%, or --thresholds FILE")
		}
		return nil, nil
	}
	var t analyze.Thresholds
	if f.file != "" {
		data, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fail(Usage, "reading the thresholds: %w", err)
		}
		if t, err = threshold.Read(f.file, data); err != nil {
			return nil, fail(Usage, "%w", err)
		}
	}
	if limit > 0 {
		t.FailAbove = limit
	}
	t.AllowMissing, t.Unlike, t.Absolute = f.missing, f.unlike, f.against == "none"
	if f.noise != "" {
		t.Noise, err = readNoise(f.noise)
	}
	return &t, err
}

// readNoise takes the largest noise floor of a self-test: that of the machine.
func readNoise(path string) (map[string]float64, error) {
	r, err := readSelfTest(path)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, n := range r.Noise {
		out[""] = max(out[""], n.Relative)
	}
	return out, nil
}

func (f *compareFlags) compare(dirs []string, o analyze.CompareOptions) (*analyze.Changes, error) {
	switch {
	case len(dirs) == 1 && len(f.envs) != 2:
		return nil, withHint(fail(Usage, "one run and %d environments are given: there is nothing to compare it with", len(f.envs)), "give a second run, or two environments of this one by --env A --env B")
	case len(dirs) == 2 && len(f.envs) > 0:
		return nil, withHint(fail(Usage, "--env is for two environments of one run, and two runs are given"), "--filter environment=%s keeps one environment of both", f.envs[0])
	}
	results := make([]*analyze.Result, len(dirs))
	for i, dir := range dirs {
		var err error
		if results[i], err = readValues(dir, f.quantile != 0); err != nil {
			return nil, err
		}
	}
	var c *analyze.Changes
	var err error
	if len(dirs) == 1 {
		c, err = analyze.Within(results[0], f.envs[0], f.envs[1], o)
	} else {
		c, err = analyze.Between(results[0], results[1], o)
	}
	if err != nil {
		return nil, chosen(err)
	}
	return c, nil
}

// readResult analyses the run in a directory.
func readResult(dir string) (*analyze.Result, error) { return readValues(dir, false) }

// readValues does so, and keeps all values where asked for.
func readValues(dir string, keep bool) (*analyze.Result, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	res, err := analyze.Run(r, analyze.Options{Values: keep})
	if err != nil {
		return nil, fail(Failed, "%w", err)
	}
	return res, nil
}

// chosen gives an error of a comparison its status, and a wrong word the
// nearest one that there is.
func chosen(err error) error {
	var choice *analyze.ChoiceError
	if !errors.As(err, &choice) {
		return fail(Failed, "%w", err)
	}
	e := fail(Usage, "%w", err)
	if near := yamlfile.Nearest(choice.Word, choice.Known); near != "" {
		return withHint(e, "did you mean %q?", near)
	}
	return e
}

func (f *compareFlags) print(w World, c *analyze.Changes) error {
	opts := report.Options{ASCII: f.ascii, Width: width(w), Color: color(w)}
	if f.output == "" {
		return report.WriteChanges(w.Stdout, f.format, c, opts)
	}
	file, err := os.Create(f.output)
	if err != nil {
		return fail(Failed, "opening the output: %w", err)
	}
	opts.Color, opts.Width = false, 0
	if err := errors.Join(report.WriteChanges(file, f.format, c, opts), file.Close()); err != nil {
		return fail(Failed, "writing the output: %w", err)
	}
	return nil
}

// status is what the gate makes of the exit status.
func (f *compareFlags) status(c *analyze.Changes) error {
	if c.Gate == nil {
		return nil
	}
	const see = "the report says which, and why"
	switch {
	case c.Gate.State == analyze.GateFails:
		return withHint(fail(GateFailed, "the gate failed: %d of %d", c.Gate.Failed, c.Gate.Gated), see)
	case c.Gate.State == analyze.Inconclusive && f.strict && c.Gate.Inconclusive == 0:
		return withHint(fail(GateOpen, "the gate cannot tell: a run is incomplete"), "%s", see)
	case c.Gate.State == analyze.Inconclusive && f.strict:
		return withHint(fail(GateOpen, "the gate cannot tell: %d of %d cells are inconclusive", c.Gate.Inconclusive, c.Gate.Gated), "run more blocks; %s", see)
	}
	return nil
}
