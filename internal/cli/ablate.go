//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/report"
)

// ablateFlags are how an engine is taken apart.
type ablateFlags struct {
	printing
	blocks     int
	seed       uint64
	workload   string
	mechanisms []string
	dir        string
	progress   string
	wait       bool
	force      bool
	show       bool
	explain    bool
}

func ablateCommand(w World) *cobra.Command {
	f := ablateFlags{printing: printing{format: "text"}, blocks: 20, workload: "hello", mechanisms: []string{study.AllMechanisms}, progress: "auto"}
	c := &cobra.Command{
		Use:   "ablate ENGINE [FACTOR=LEVEL…]",
		Short: "Show what each mechanism of an engine costs, by taking it away",
		Long: `Measures an engine with everything that it does, without each of its mechanisms
alone, and without one after the other, down through the engines that it calls to the
least that the kernel can do: all in the same blocks. Some combinations are held out,
to be predicted from what each mechanism costs alone.

A level of a factor holds for all: ablate docker client=api. What each engine can do
without, plimsoll engines ENGINE lists; a study asks for the same by the key ablate.`,
		Example: `  plimsoll ablate docker
  plimsoll ablate oci runtime=crun --blocks 60
  plimsoll ablate podman client=api --mechanism network,seccomp
  plimsoll ablate containerd --workload syscalls
  plimsoll ablate docker --explain
  plimsoll ablate docker --study > mine.yaml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("expected an engine: plimsoll ablate ENGINE")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return ablatable(w), cobra.ShellCompDirectiveNoFileComp
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
				_, err := io.WriteString(w.Stdout, text)
				return err
			}
			return f.ablate(w, args, text)
		},
	}
	f.printing.add(c, report.Ablations.Formats()...)
	c.Flags().IntVar(&f.blocks, "blocks", f.blocks, "how many blocks count")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "seed of the order and of what is held out (0: drawn and recorded)")
	c.Flags().StringVar(&f.workload, "workload", f.workload, "what runs inside; its first metrics are taken apart")
	c.Flags().StringSliceVar(&f.mechanisms, "mechanism", f.mechanisms, "take only these away")
	c.Flags().StringVarP(&f.dir, "record", "d", "", "directory of the record (default plimsoll-run-TIME-ablate-ENGINE)")
	c.Flags().BoolVar(&f.explain, "explain", false, "then follow ten starts with each mechanism that costs something and ten without, as plimsoll explain does, and set what the timeline says beside it (root; workload hello)")
	c.Flags().BoolVar(&f.show, "study", false, "print the study, for plimsoll run, and measure nothing")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait if another Plimsoll is measuring on this machine")
	c.Flags().BoolVar(&f.force, "force", false, "measure even if doctor refuses")
	choiceFlag(c, &f.progress, "progress", "how to show progress", "auto", "bar", "plain", "json", "none")
	return c
}

// ablatable are the engines from which something can be taken away.
func ablatable(w World) (names []string) {
	s, err := newSetting(w)
	if err != nil {
		return nil
	}
	for _, e := range s.engines {
		if i := e.Info(); len(i.Mechanisms) > 0 {
			names = append(names, i.Name)
		}
	}
	return names
}

// study is the one that is run. No container has a limit: what can do without a
// control group can have none.
func (f *ablateFlags) study(args []string) (string, error) {
	levels, err := levelLines(args)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(f.workload+strings.Join(f.mechanisms, ""), yamlSigns) {
		return "", fail(Usage, "--workload and --mechanism take names")
	}
	return fmt.Sprintf(`plimsoll: 1
name: ablate-%[1]s
title: What %[1]s is made of
protocol: {blocks: %[2]d, warmup: 2, seed: %[3]d, limits: {cpus: none, memory: none}}
workloads: [%[4]s]
environments:
  - engine: %[1]s
    ablate: [%[5]s]
%[6]s`, args[0], f.blocks, f.seed, f.workload, strings.Join(f.mechanisms, ", "), levels), nil
}

// command is what measures the same again.
func (f *ablateFlags) command(args []string, seed uint64) string {
	s := "plimsoll ablate " + strings.Join(args, " ") + fmt.Sprintf(" --blocks %d --seed %d", f.blocks, seed)
	if f.workload != "hello" {
		s += " --workload " + f.workload
	}
	if m := strings.Join(f.mechanisms, ","); m != study.AllMechanisms {
		s += " --mechanism " + m
	}
	return s
}

func (f *ablateFlags) ablate(w World, args []string, text string) error {
	return smallStudy{
		by: "ablate", of: args[0], text: text, dir: f.dir, progress: f.progress, wait: f.wait, force: f.force,
		keeps:   func(string) bool { return true },
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
			if err := f.observe(w, res, o.Plan); err != nil {
				return errors.Join(f.print(w, res), err) // what was measured stands
			}
		}
		return f.print(w, res)
	})
}

func (f *ablateFlags) print(w World, res *analyze.Result) error {
	return tell(w, &f.printing, report.Ablations, res)
}

// yamlSigns mean something in a study, which a name that is put into one must not.
const yamlSigns = "\n{}[]#:,\"' "

// levelLines writes FACTOR=LEVEL after an engine as the lines of a study's entry.
func levelLines(args []string) (string, error) {
	if strings.ContainsAny(args[0], yamlSigns) {
		return "", fail(Usage, "%q is no engine (plimsoll engines lists them)", args[0])
	}
	var text strings.Builder
	for _, a := range args[1:] {
		factor, level, ok := strings.Cut(a, "=")
		if !ok || factor == "" || level == "" || strings.ContainsAny(a, yamlSigns) {
			return "", fail(Usage, "%q is no factor and its level: expected one like network=none (plimsoll engines %s lists them)", a, args[0])
		}
		fmt.Fprintf(&text, "    %s: %s\n", factor, level)
	}
	return text.String(), nil
}
