//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
	"plimsoll/internal/understand/words"
)

// tryFlags are what a try can choose.
type tryFlags struct {
	turn
	engines []string
	set     []string
	full    bool
}

func (f *tryFlags) add(c *cobra.Command, w World) {
	c.Flags().StringSliceVar(&f.engines, "try", nil, "run one small trial in these engines and in native")
	c.Flags().StringSliceVar(&f.set, "set", nil, "with --try: set parameters, as in threads=4")
	c.Flags().BoolVar(&f.full, "full", false, "with --try: the defaults instead of the small levels")
	f.addWaiting(c)
	completes(c, "try", completeEngineNames(w, realEngine))
	completes(c, "set", completeParameters)
}

// completeParameters completes the parameters of the workload that is named, with their
// levels; of one of the user's own nothing is known.
func completeParameters(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var out []string
	if len(args) > 0 {
		x, _ := workload.Find(args[0]) // of one that is none there are no parameters
		for _, p := range slices.Sorted(maps.Keys(x.Parameters)) {
			for _, level := range x.Parameters[p] {
				out = append(out, p+"="+level)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// tryRow is one environment of a try.
type tryRow struct {
	Environment string             `json:"environment"`
	Values      map[string]float64 `json:"values,omitempty"`
	Failure     *record.Failure    `json:"failure,omitempty"`
	Missing     string             `json:"missing,omitempty"`
	Fix         string             `json:"fix,omitempty"`
}

func tryWorkload(ctx context.Context, w World, x workload.Workload, f tryFlags, format string) (err error) {
	w, finish, broken, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	plan, err := s.tryPlan(finish, x, f)
	if err != nil {
		return err
	}
	parent, err := os.MkdirTemp("", "plimsoll-try-")
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, failing(safepath.RemoveAll(parent)))
		}
	}()
	o := s.options()
	o.Plan, o.Run, o.Dir = plan, &record.Run{Tool: tool()}, filepath.Join(parent, "record")
	o.Progress, o.Finish, o.Wait = newProgress(w, f.progress), finish.Done(), f.wait
	o.Workloads = []workload.Workload{x}
	if err := describeHost(ctx, s, &o, true); err != nil {
		return err
	}
	excluded := plan.Excluded
	sum := &run.Summary{}
	if len(plan.Cells) > 0 {
		if sum, err = run.Execute(broken, o); err != nil && !errors.Is(err, run.ErrNothing) {
			return fail(Failed, "%w", err) // the record is not kept, so there is nothing to resume
		}
		if sum == nil {
			sum = &run.Summary{}
		}
		excluded = plan.Excluded // with what was found out while opening
		tellLeft(w, sum)
	}
	rows, metrics, err := tried(o.Dir, excluded, sum.Trials > 0)
	if err != nil {
		return err
	}
	if format == "json" {
		err = printJSON[[]tryRow](w.Stdout, rows)
	} else {
		err = printTry(w, rows, metrics)
	}
	switch {
	case err != nil:
		return err
	case sum.Interrupted:
		return fail(Interrupted, "interrupted")
	case sum.Without() != "":
		keep = true
		return withHint(fail(SomeFailed, "%s", sum.Without()), "what they printed is kept under %s", o.Dir)
	case sum.Trials == 0:
		return fail(NothingHere, "it can't be tried here")
	case sum.Left():
		return fail(Failed, "not everything could be removed after the trial")
	}
	return nil
}

// tryPlan is one block of one workload in native and the named engines.
func (s *setting) tryPlan(ctx context.Context, x workload.Workload, f tryFlags) (*study.Plan, error) {
	cat := s.studyCatalogue()
	if x.Source != "" && x.Path != "" {
		info := workloadInfo(x)
		info.Source = x.Source
		cat.Workloads = append(cat.Workloads, info)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "plimsoll: 1\nname: try\ntitle: A try of %s\n", x.Name)
	fmt.Fprintf(&text, "protocol: {blocks: 1, warmup: 0, small: %v}\nbaselines: [native]\nworkloads:\n  - name: %s\n", !f.full, x.Name)
	if len(f.set) > 0 {
		fmt.Fprintln(&text, "    parameters:")
		for _, p := range f.set {
			name, level, ok := strings.Cut(p, "=")
			if !ok || strings.ContainsAny(p, "\n{}[]#:") {
				return nil, fail(Usage, "--set is %q: it must be PARAMETER=LEVEL", p)
			}
			fmt.Fprintf(&text, "      %s: %s\n", name, level)
		}
	}
	fmt.Fprintf(&text, "environments: [native, %s]\n", strings.Join(slices.DeleteFunc(slices.Clone(f.engines), func(n string) bool { return n == "native" }), ", "))
	keeps := func(engine string) bool { return engine == "native" || slices.Contains(f.engines, engine) }
	p, err := s.smallPlan(ctx, "the try", text.String(), cat, keeps)
	if err != nil {
		return nil, err
	}
	p.Excluded = slices.DeleteFunc(p.Excluded, func(x record.Excluded) bool {
		return x.Reason == "" || s.baseline(x.Engine) && !keeps(x.Engine)
	})
	return p, nil
}

// tried gives a row for each environment, and the metrics of the workload.
func tried(dir string, excluded []record.Excluded, ran bool) ([]tryRow, []record.Metric, error) {
	var rows []tryRow
	var metrics []record.Metric
	if ran {
		r, err := record.Open(dir)
		if err != nil {
			return nil, nil, fail(Failed, "%w", err)
		}
		metrics = append(slices.Clone(r.Run().Workloads[0].Metrics), record.LifeCycle...)
		for t, err := range derive.Trials(r) {
			if err != nil {
				return nil, nil, fail(Failed, "%w", err)
			}
			row := tryRow{Environment: t.Env, Values: map[string]float64{}}
			if t.Failure != nil {
				row.Failure = new(*t.Failure)
			}
			maps.Copy(row.Values, t.Values)
			for _, m := range record.LifeCycle {
				if ns, ok := m.Derive(t); ok {
					row.Values[m.ID] = float64(ns)
				}
			}
			rows = append(rows, row)
		}
		slices.SortFunc(rows, func(a, b tryRow) int { return strings.Compare(a.Environment, b.Environment) })
	}
	for _, x := range excluded {
		rows = append(rows, tryRow{Environment: x.ID, Missing: x.Reason, Fix: x.Fix})
	}
	return rows, metrics, nil
}

// printTry prints a line for each metric and a column for each environment.
func printTry(w World, rows []tryRow, metrics []record.Metric) error {
	out := w.paper()
	tw := columnsOn(out)
	fmt.Fprint(tw, "METRIC")
	for _, r := range rows {
		if r.Failure == nil && r.Missing == "" {
			fmt.Fprint(tw, "\t", r.Environment)
		}
	}
	fmt.Fprintln(tw)
	for _, m := range metrics {
		if m.Kind != "" && m.Kind != record.Check {
			continue // sampled: --format json has it
		}
		line, any := m.ID, false
		for _, r := range rows {
			if r.Failure != nil || r.Missing != "" {
				continue
			}
			text := "-"
			if v, ok := r.Values[m.ID]; ok {
				text, any = words.Amount(v, m.Unit), true
			}
			line += "\t" + text
		}
		if any {
			fmt.Fprintln(tw, line)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		switch {
		case r.Failure != nil:
			fmt.Fprintf(out, "%s failed (%s): %s\n", r.Environment, r.Failure.Class, words.Clean(r.Failure.Text))
		case r.Missing != "":
			fmt.Fprintf(out, "%s: %s\n", r.Environment, words.Clean(r.Missing))
			if r.Fix != "" {
				fmt.Fprintf(out, "  %s\n", words.Clean(r.Fix))
			}
		}
	}
	fmt.Fprintln(out, "One trial each: a try, not a measurement.")
	return nil
}
