package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/view"
)

// portableAsked is what the command line asks of a run of that half.
type portableAsked struct {
	report   reportFlags
	study    string
	scale    string
	parts    []string
	engines  []string
	blocks   int
	seed     uint64
	small    bool
	dir      string
	archives map[string]string
	// Of a run that is gone on with: its directory, and whether it may be on something
	// else than it began on, or be another user's.
	resume        string
	unlike, trust bool
}

// portableRunFlags are those of plimsoll run that this half knows; portableKept those of
// them that a run which is resumed has in its record, portableResume those for it alone.
var (
	portableRunFlags = slices.Concat([]string{"portable", "image-archive", "format", "metric", "full", "ascii", "raw-csv"}, portableKept, portableResume)
	portableKept     = []string{"scale", "part", "engine", "blocks", "seed", "small", "output"}
	portableResume   = []string{"resume", "unlike", "trust-record"}
)

// portableOnly refuses flags that need the engine's own machine, and what does not go
// together.
func portableOnly(c *cobra.Command, args []string) error {
	given := changedFlags(c)
	for _, name := range given {
		if !slices.Contains(portableRunFlags, name) {
			why := "which knows the engines' interfaces alone"
			if slices.Contains(given, "resume") && !slices.Contains(given, "portable") {
				why += ", and the run was measured so"
			}
			return withHint(fail(Usage, "--%s is not for --portable, %s", name, why), "with --portable there are --%s", strings.Join(portableRunFlags[1:], ", --"))
		}
	}
	if slices.Contains(given, "resume") {
		return keeps(c.Flags(), args, portableKept)
	}
	for _, name := range given {
		if slices.Contains(portableResume, name) {
			return withHint(fail(Usage, "--%s is for --resume: a new run has no record yet", name), "leave it out, or name the run by --resume DIR")
		}
	}
	return nil
}

// changedFlags are the names of the flags that were given, in order.
func changedFlags(c *cobra.Command) (names []string) {
	c.Flags().Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	slices.Sort(names)
	return names
}

// arguments plan the same run again.
func (a *portableAsked) arguments(seed uint64) []string {
	out := []string{"run", "--portable", a.study, "--seed", strconv.FormatUint(seed, 10)}
	if a.scale != "" {
		out = append(out, "--scale", a.scale)
	}
	if len(a.parts) > 0 {
		out = append(out, "--part", strings.Join(a.parts, ","))
	}
	if len(a.engines) > 0 {
		out = append(out, "--engine", strings.Join(a.engines, ","))
	}
	if a.blocks > 0 {
		out = append(out, "--blocks", strconv.Itoa(a.blocks))
	}
	if a.small {
		out = append(out, "--small")
	}
	return out
}

// runPortable measures by the engines' interfaces alone, and prints what came of it.
func runPortable(w World, a *portableAsked) error {
	w, finish, broken, stop := w.interrupts()
	defer stop()
	around, err := w.around()
	if err != nil {
		return err
	}
	ledgers, err := w.ledgers()
	if err != nil {
		return err
	}
	for name, path := range a.archives {
		if _, err := os.Stat(path); err != nil {
			return fail(Usage, "--image-archive %s=%s: %w", name, path, err)
		}
	}
	say := func(s string) { fmt.Fprintln(w.Stderr, harmless.Text(s)) }
	look := &portable.Look{Context: finish, Around: around, Images: &portable.Images{Archives: a.archives}}
	o := portable.Options{Look: look, Ledgers: ledgers, Finish: finish.Done(), Say: say, Unlike: a.unlike}
	if a.resume != "" {
		err = a.again(w, &o)
	} else {
		err = a.begin(finish, &o)
	}
	if err != nil {
		return err
	}
	look.Images.RunID = o.Run.ID
	sum, err := portable.Execute(broken, o)
	if err != nil {
		return portableError(err, o.Dir, sum != nil)
	}
	return finishPortable(w, a, &o, sum)
}

// begin plans a new run.
func (a *portableAsked) begin(ctx context.Context, o *portable.Options) error {
	if err := takesRecord(a.dir); err != nil {
		return err
	}
	id := record.NewRunID()
	o.Look.Images.RunID = id
	var err error
	if o.Plan, err = portablePlan(ctx, a, o.Look); err != nil {
		return err
	}
	if len(o.Plan.Cells) == 0 {
		for _, x := range o.Plan.Excluded {
			what := x.ID
			if x.Workload != "" {
				what += " with " + x.Workload
			}
			o.Say(what + " is " + x.Kind + ": " + portable.Advised(x.Reason, x.Fix))
		}
		return withHint(fail(NothingHere, "nothing of %s can be measured by the engines' interfaces", a.study), "plimsoll engines --portable says what is reached here")
	}
	o.Run = &record.Run{ID: id, Tool: tool(), Arguments: a.arguments(o.Plan.Protocol.Seed)}
	o.Dir, err = outputDir(a.dir, a.study)
	return err
}

// portableError gives an error of a run its status; begun says that there is a record
// of it.
func portableError(err error, dir string, begun bool) error {
	var unlike *likeness.Error
	switch {
	case errors.As(err, &unlike):
		return withHint(fail(Usage, "%w", err), unlikeHint)
	case errors.Is(err, portable.ErrNothing) && !begun:
		return withHint(fail(NothingHere, "%w", err), "plimsoll engines --portable says what is reached here")
	case errors.Is(err, portable.ErrElsewhere) && !begun: // as if it were unlike
		return fail(Usage, "%w", err)
	case begun:
		return withHint(fail(Failed, "%w", err), "what was measured is kept; go on with: plimsoll run --portable --resume %s", shortPath(dir))
	}
	return fail(Failed, "%w", err)
}

// finishPortable prints the table and says where the record lies.
func finishPortable(w World, a *portableAsked, o *portable.Options, sum *portable.Summary) error {
	path := shortPath(o.Dir)
	if sum.Interrupted && sum.Trials == 0 {
		return errors.Join(withHint(fail(Interrupted, "interrupted before the first trial"), "continue with: plimsoll run --portable --resume %s", path), sum.Unclean)
	}
	res, err := readWith(o.Dir, evaluate.Options{Levels: view.Levels})
	if err != nil {
		return withHint(err, "the record is in %s", path)
	}
	err = a.report.write(w, []string{path}, []*analyze.Result{res})
	fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this again.\n", path, path)
	runPage(w, o.Dir, res, o.Trusted...)
	switch {
	case err != nil:
		return err
	case sum.Unclean != nil:
		return withHint(fail(Failed, notAllRemoved+": %w", sum.Unclean), "plimsoll clean --portable tries again")
	case sum.Interrupted:
		return withHint(fail(Interrupted, "interrupted after %d of %d trials", sum.Trials, sum.Planned), "continue with: plimsoll run --portable --resume %s", path)
	case sum.Failed > 0:
		return fail(SomeFailed, "%d of %d trials failed: the report says which and why", sum.Failed, sum.Trials)
	}
	return nil
}
