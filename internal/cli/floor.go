//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/report"
)

// floorFlags are what is asked of the kernel.
type floorFlags struct {
	printing
	turn
	blocks     int
	rounds     int
	seed       uint64
	mechanisms []string
	together   []int
	dir        string
	show       bool
}

func floorCommand(w World) *cobra.Command {
	f := floorFlags{printing: printing{format: "text"}, blocks: 6, rounds: 10, together: []int{1, 4, 16, 64}}
	c := &cobra.Command{
		Use:   "floor",
		Short: "Show what this machine's kernel charges for what containers are made of",
		Long: `Makes and undoes each mechanism that containers are made of by the kernel's own calls,
with no engine: namespaces, mounts, links, rules of the packet filter, a system call
filter, control groups. Each alone, and by several processes that begin at the same
time, all in the same blocks.

No engine can be faster than this. It also shows which mechanisms don't get cheaper with
more processors, because one process waits for another. It needs root.`,
		Example: `  plimsoll floor
  plimsoll floor --mechanism process,network-namespace,veth --at-once 1,8,64
  plimsoll floor --blocks 20 --format markdown
  plimsoll run kernel                 # the same as a study`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := f.study()
			if err != nil {
				return err
			}
			if f.show {
				return printOwn(w, "floor", text)
			}
			return f.ask(w, text)
		},
	}
	f.printing.add(c, report.Charges.Formats()...)
	c.Flags().IntVar(&f.blocks, "blocks", f.blocks, "how many blocks count")
	c.Flags().IntVar(&f.rounds, "rounds", f.rounds, "how often each mechanism is made in a block, by each process")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	c.Flags().StringSliceVar(&f.mechanisms, "mechanism", nil, "measure only these (plimsoll workloads show mechanisms lists them)")
	c.Flags().IntSliceVar(&f.together, "at-once", f.together, "how many processes begin at the same time")
	c.Flags().StringVarP(&f.dir, "record", "d", "", "directory of the record (default plimsoll-run-TIME-floor)")
	c.Flags().BoolVar(&f.show, "study", false, "print the study, for plimsoll run, and measure nothing")
	f.addTurn(c)
	completes(c, "mechanism", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kernelMechanisms(), cobra.ShellCompDirectiveNoFileComp
	})
	completesFolders(c, "record")
	return c
}

// kernelMechanisms are those that the workload knows.
func kernelMechanisms() []string {
	for _, w := range workload.Catalogue() {
		if w.Name == kernel.Workload {
			return w.Parameters[kernel.Mechanism]
		}
	}
	return nil
}

func (f *floorFlags) study() (string, error) {
	names := f.mechanisms
	if len(names) == 0 {
		names = kernelMechanisms()
	}
	for _, n := range f.together {
		if n < 1 || n > 64 {
			return "", fail(Usage, "--at-once is %d: expected 1 to 64", n)
		}
	}
	if f.rounds < 1 {
		return "", fail(Usage, "--rounds is %d: it must be at least 1", f.rounds)
	}
	known := kernelMechanisms()
	for _, name := range names {
		if !slices.Contains(known, name) {
			err := fail(Usage, "--mechanism: no mechanism %q: there is %s", name, strings.Join(known, ", "))
			return "", didYouMean(err, name, known, "plimsoll workloads show mechanisms says what each is")
		}
	}
	return fmt.Sprintf(`plimsoll: 1
name: floor
title: What the kernel charges
protocol: {blocks: %d, warmup: 0, seed: %d, collect: off, limits: {cpus: none, memory: none}}
baselines: []
workloads:
  - name: %s
    parameters:
      %s: [%s]
      %s: [%s]
      repetitions: %d
environments: [native]
metrics: [%s, %s, %s]
`, f.blocks, f.seed, kernel.Workload, kernel.Mechanism, strings.Join(names, ", "), kernel.Together, numbers(f.together), f.rounds,
		kernel.Make, kernel.End, kernel.Rate), nil
}

func numbers(list []int) string {
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ", "), "[]")
}

// command is what measures the same again.
func (f *floorFlags) command(seed uint64) string {
	s := fmt.Sprintf("plimsoll floor --blocks %d --rounds %d --seed %d --at-once %s", f.blocks, f.rounds, seed, strings.ReplaceAll(numbers(f.together), " ", ""))
	if len(f.mechanisms) > 0 {
		s += " --mechanism " + strings.Join(f.mechanisms, ",")
	}
	return s
}

func (f *floorFlags) ask(w World, text string) error {
	return smallStudy{
		by: "floor", text: text, dir: f.dir, turn: f.turn,
		keeps: func(string) bool { return true }, command: f.command,
	}.run(w, f.measured)
}

func (f *floorFlags) measured(ctx context.Context, w World, o run.Options) error {
	return smallRun(ctx, w, o, func(res *analyze.Result) error {
		if len(res.Charges) == 0 {
			return withHint(fail(Failed, "fewer than two mechanisms were measured"), "plimsoll report %s says why", shortPath(o.Dir))
		}
		return tell(w, &f.printing, report.Charges, res)
	})
}

// smallRun measures, tells what was found, and says by its error what of it failed.
func smallRun(ctx context.Context, w World, o run.Options, tell func(*analyze.Result) error) error {
	sum, err := run.Execute(ctx, o)
	if errors.Is(err, run.ErrLacking) {
		return unopened(sum.Excluded)
	}
	if err != nil {
		return runError(err, o.Dir, sum != nil)
	}
	tellLeft(w, sum)
	path := shortPath(sum.Dir)
	if sum.Interrupted {
		return withHint(fail(Interrupted, "interrupted"), "continue with: plimsoll run --resume %s", path)
	}
	res, err := readWith(sum.Dir, evaluate.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "The record is in %s; plimsoll report %s prints this and all else.\n", path, path)
	if err := tell(res); err != nil {
		return err
	}
	switch {
	case sum.Left():
		return fail(Failed, notAllRemoved)
	case sum.Without() != "":
		return withHint(fail(SomeFailed, "%s", sum.Without()), "plimsoll report %s says which and why", path)
	}
	return nil
}
