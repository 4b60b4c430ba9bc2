//go:build linux

package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/report"
)

// ablateFlags are how an engine is taken apart.
type ablateFlags struct {
	printing
	turn
	blocks     int
	seed       uint64
	small      bool
	mechanisms []string
	metrics    []string
	dir        string
	show       bool
	explain    bool
	left       bool // by the starts that were followed
}

func ablateCommand(w World) *cobra.Command {
	f := ablateFlags{printing: printing{format: "text"}, blocks: 20, mechanisms: []string{study.AllMechanisms}}
	levels := completeEngine(w, realEngine)
	c := &cobra.Command{
		Use:   "ablate ENGINE [WORKLOAD] [NAME=LEVEL…]",
		Short: "Show what each mechanism of an engine costs, by taking it away",
		Long: `Measures an engine with everything it does, without each of its mechanisms alone, and
with one after the other taken away, down through the engines that it calls to the
least that the kernel can do: all in the same blocks. Some combinations are held out
and predicted from what each mechanism costs alone.

Without a WORKLOAD it takes the start apart. With one it takes apart what the container
costs that program while it runs, down to the program without a container (native);
with density, the memory of one more container.

A level of a factor, or of one of the workload's parameters, is kept throughout: ablate
docker sockperf client=api seconds=1. plimsoll engines ENGINE lists what an engine can
do without; in a study the key ablate does the same. plimsoll report DIR prints the
result again.`,
		Example: `  plimsoll ablate docker
  plimsoll ablate oci runtime=crun --blocks 60
  plimsoll ablate podman client=api --mechanism network,seccomp
  plimsoll ablate docker sysbench-cpu client=api seconds=2 --mechanism seccomp,capabilities
  plimsoll ablate podman python client=api --metric score --blocks 10
  plimsoll ablate docker density count=20 client=api
  plimsoll ablate docker --explain
  plimsoll ablate docker --study > mine.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("expected an engine: plimsoll ablate ENGINE")
			}
			return nil
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return ablatable(w), cobra.ShellCompDirectiveNoFileComp
			case 1:
				names, _ := completeWorkloads(nil, nil, "")
				more, directive := levels(c, args, typed)
				return append(names, more...), directive
			}
			return levels(c, args, typed)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := f.study(args)
			if err != nil {
				return err
			}
			if err := f.explainable(args); err != nil {
				return err
			}
			if f.show {
				return printOwn(w, "ablate", text)
			}
			return f.ablate(w, args, text)
		},
	}
	f.printing.add(c, report.Ablations.Formats()...)
	c.Flags().IntVar(&f.blocks, "blocks", f.blocks, "how many blocks count")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the order and of what is held out (0: drawn and recorded)")
	c.Flags().BoolVar(&f.small, "small", false, "the workload runs at its small size")
	c.Flags().StringSliceVar(&f.metrics, "metric", nil, "take these metrics of the workload apart (default: its first)")
	c.Flags().StringSliceVar(&f.mechanisms, "mechanism", f.mechanisms, "take only these away")
	c.Flags().StringVarP(&f.dir, "record", "d", "", "directory of the record (default plimsoll-run-TIME-ablate-ENGINE)")
	c.Flags().BoolVar(&f.explain, "explain", false, "then follow ten starts or more with each mechanism that costs something and as many without, as plimsoll explain does, and show what the timeline says next to the cost, in the record too (root; workload hello)")
	c.Flags().BoolVar(&f.show, "study", false, "print the study, for plimsoll run, and measure nothing")
	f.addTurn(c)
	completes(c, "mechanism", completeMechanisms(w))
	completesMeasured(c, func(args []string) string {
		if len(args) == 0 {
			return lifeCycle
		}
		return ablatedBy(args).workload
	})
	completesFolders(c, "record")
	return c
}

// ablatable are the engines from which something can be taken away.
func ablatable(w World) []string {
	return enginesThat(w, func(i engine.Info) bool { return len(i.Mechanisms) > 0 })
}

func (f *ablateFlags) ablate(w World, args []string, text string) error {
	return smallStudy{
		by: "ablate", of: args[0], text: text, dir: f.dir, turn: f.turn,
		keeps:   func(engine string) bool { return engine != "host" }, // no step leads to it
		lacks:   func(p *study.Plan) bool { return len(p.Study.Ablations) == 0 || p.Study.Ablations[0].Base == "" },
		command: func(seed uint64) string { return f.command(args, seed) },
	}.run(w, f.measured)
}

// measured runs and tells what was found.
func (f *ablateFlags) measured(ctx context.Context, w World, o run.Options) error {
	return smallRun(ctx, w, o, func(res *analyze.Result) error {
		if len(res.Ablations) == 0 {
			return unopened(res.Excluded)
		}
		if f.explain {
			if err := f.observe(w, res, o); err != nil {
				return errors.Join(f.print(w, res), err) // what was measured stands
			}
		}
		if err := f.print(w, res); err != nil || !f.left {
			return err
		}
		return fail(Failed, notAllRemoved)
	})
}

func (f *ablateFlags) print(w World, res *analyze.Result) error {
	return tell(w, &f.printing, report.Ablations, res)
}
