package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
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
}

// portableRunFlags are those of plimsoll run that this half knows.
var portableRunFlags = []string{"portable", "image-archive", "scale", "part", "engine", "blocks", "seed", "small", "output", "format", "metric", "full", "ascii"}

// portableOnly refuses flags that need the engine's own machine.
func portableOnly(c *cobra.Command) (err error) {
	for _, name := range changedFlags(c) {
		if !slices.Contains(portableRunFlags, name) {
			return withHint(fail(Usage, "--%s is not for --portable, which knows the engines' interfaces alone", name), "with --portable there are --%s", strings.Join(portableRunFlags[1:], ", --"))
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
	id := record.NewRunID()
	look := &portable.Look{Context: finish, Around: around, Images: &portable.Images{RunID: id, Archives: a.archives}}
	plan, err := portablePlan(finish, a, look)
	if err != nil {
		return err
	}
	say := func(s string) { fmt.Fprintln(w.Stderr, harmless.Text(s)) }
	if len(plan.Cells) == 0 {
		for _, x := range plan.Excluded {
			say(strings.TrimSpace(x.ID + " " + x.Workload + " is " + x.Kind + ": " + x.Reason))
		}
		return withHint(fail(NothingHere, "nothing of %s can be measured by the engines' interfaces", a.study), "plimsoll engines --portable says what is reached here")
	}
	dir, err := outputDir(a.dir, a.study)
	if err != nil {
		return err
	}
	rec := &record.Run{ID: id, Tool: tool(), Arguments: a.arguments(plan.Protocol.Seed)}
	sum, err := portable.Execute(broken, portable.Options{Look: look, Plan: plan, Run: rec, Dir: dir, Ledgers: ledgers, Finish: finish.Done(), Say: say})
	if err != nil && sum == nil {
		if errors.Is(err, portable.ErrNothing) {
			return withHint(fail(NothingHere, "%w", err), "plimsoll engines --portable says what is reached here")
		}
		return fail(Failed, "%w", err)
	}
	if err != nil {
		return withHint(fail(Failed, "%w", err), "what was measured is kept in %s", shortPath(dir))
	}
	return finishPortable(w, a, dir, sum)
}

// finishPortable prints the table and says where the record lies.
func finishPortable(w World, a *portableAsked, dir string, sum *portable.Summary) error {
	path := shortPath(dir)
	if sum.Interrupted && sum.Trials == 0 {
		return errors.Join(fail(Interrupted, "interrupted before the first trial"), sum.Unclean)
	}
	res, err := readWith(dir, evaluate.Options{Levels: view.Levels})
	if err != nil {
		return withHint(err, "the record is in %s", path)
	}
	err = a.report.write(w, []string{path}, []*analyze.Result{res})
	fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this again.\n", path, path)
	runPage(w, dir, res)
	switch {
	case err != nil:
		return err
	case sum.Unclean != nil:
		return withHint(fail(Failed, "the measurement stands, but not everything could be removed afterwards: %w", sum.Unclean), "plimsoll clean --portable tries again")
	case sum.Interrupted:
		return fail(Interrupted, "interrupted after %d of %d trials", sum.Trials, sum.Planned)
	case sum.Failed > 0:
		return fail(SomeFailed, "%d of %d trials failed: the report says which and why", sum.Failed, sum.Trials)
	}
	return nil
}
