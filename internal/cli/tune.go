//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/steady"
	"plimsoll/internal/understand/report"
)

// tuneFlags are what is asked about the machine's states.
type tuneFlags struct {
	printing
	turn
	measure bool
	states  []string
	blocks  int
	seed    uint64
	dir     string
	show    bool
}

func tuneCommand(w World) *cobra.Command {
	f := tuneFlags{printing: printing{format: "text"}, blocks: 30}
	c := &cobra.Command{
		Use:   "tune [ENGINE [FACTOR=LEVEL…]]",
		Short: "Show what makes starts scatter on this machine, and what you can set against it",
		Long: `Lists the states of this machine that make starts scatter, what they are now, and
whether they can be set. Nothing is changed.

With --measure it finds out what each does to the starts of an engine (by default the
bare runtime): in each block the engine starts twice with the machine as it is, twice
in each state alone and twice in all of them. States are set for single starts and put
back, after a kill too.

plimsoll run --tuned measures a study with all of them set. Its results are those of a
tuned machine, and are marked as such: your users' machines are not tuned.`,
		Example: `  plimsoll tune
  plimsoll tune --measure
  plimsoll tune --measure podman network=none --state rcu-expedited,huge-pages
  plimsoll run quick --tuned`,
		ValidArgsFunction: completeEngine(w, realEngine),
		RunE: func(c *cobra.Command, args []string) error {
			if !f.measure && !f.show {
				if len(args) > 0 {
					return withHint(fail(Usage, "an engine is for --measure"), "plimsoll tune --measure %s", strings.Join(args, " "))
				}
				for _, name := range []string{"state", "blocks", "seed", "record", "force", "wait"} {
					if c.Flags().Changed(name) {
						return withHint(fail(Usage, "--%s is for --measure, and the list measures nothing", name), "plimsoll tune --measure, or leave it out")
					}
				}
				return f.list(w)
			}
			if len(args) == 0 {
				args = []string{"oci"}
			}
			text, err := f.study(args)
			if err != nil {
				return err
			}
			if f.show {
				return printOwn(w, "tune", text)
			}
			return f.measured(w, args, text)
		},
	}
	f.printing.add(c, report.Steadiness.Formats()...)
	c.Flags().BoolVar(&f.measure, "measure", false, "find out what each state does to an engine's starts")
	c.Flags().StringSliceVar(&f.states, "state", nil, "with --measure: only these (default: all that can be set, each alone)")
	c.Flags().IntVar(&f.blocks, "blocks", f.blocks, "with --measure: how many blocks count")
	c.Flags().Uint64Var(&f.seed, "seed", 0, "with --measure: seed of the order (0: drawn and recorded)")
	c.Flags().StringVarP(&f.dir, "record", "d", "", "with --measure: directory of the record (default plimsoll-run-TIME-tune-ENGINE)")
	c.Flags().BoolVar(&f.show, "study", false, "print the study that --measure runs, and measure nothing")
	f.addTurn(c)
	completes(c, "state", completeWords(tune.Names()...))
	completesFolders(c, "record")
	return c
}

// enginesThat are the names of the known engines of which this holds.
func enginesThat(w World, holds func(engine.Info) bool) []string {
	s, err := newSetting(w)
	if err != nil {
		return nil
	}
	return s.enginesThat(holds)
}

func (f *tuneFlags) list(w World) error {
	var all []report.State
	for _, s := range (tune.Machine{}).Look() {
		l := report.State{Name: s.Name, Title: s.Title, Price: s.Price, State: report.StateSettable, Now: s.Now, NowMeans: s.Means, TunedMeans: s.TunedMeans()}
		switch {
		case s.Already:
			l.State = report.StateSet
		case s.Why != "":
			l.State, l.Reason = report.StateUnavailable, s.Why
		default:
			l.Tuned = s.Changes[0].New
		}
		all = append(all, l)
	}
	return tell(w, &f.printing, report.States, all)
}

// study is the one that is run: each state twice, beside the machine as it is.
func (f *tuneFlags) study(args []string) (string, error) {
	levels, err := levelLines(args)
	if err != nil {
		return "", err
	}
	states := f.states
	if len(states) == 0 {
		can := 0
		for _, s := range (tune.Machine{}).Look() {
			if len(s.Changes) > 0 {
				states = append(states, s.Name)
				can++
			}
		}
		if can == 0 {
			return "", withHint(fail(NothingHere, "nothing can be set on this machine"), "plimsoll tune says of each state why not")
		}
		if can > 1 {
			states = append(states, tune.Everything)
		}
	}
	if strings.ContainsAny(strings.Join(states, ""), yamlSigns) {
		return "", fail(Usage, "--state takes names (plimsoll tune lists them)")
	}
	return fmt.Sprintf(`plimsoll: 1
name: tune-%[1]s
title: What makes %[1]s scatter
protocol: {blocks: %[2]d, warmup: 2, seed: %[3]d}
baselines: []
workloads: [hello]
environments:
  - engine: %[1]s
    %[4]s: [%[5]s, %[6]s]
    as: [a, b]
%[7]s`, args[0], f.blocks, f.seed, steady.Factor, steady.AsItIs, strings.Join(states, ", "), levels), nil
}

// command is what measures the same again.
func (f *tuneFlags) command(args []string, seed uint64) string {
	s := "plimsoll tune --measure " + strings.Join(args, " ") + fmt.Sprintf(" --blocks %d --seed %d", f.blocks, seed)
	if len(f.states) > 0 {
		s += " --state " + strings.Join(f.states, ",")
	}
	return s
}

func (f *tuneFlags) measured(w World, args []string, text string) error {
	return smallStudy{
		by: "tune", of: args[0], text: text, dir: f.dir, turn: f.turn,
		keeps:   func(e string) bool { return e == args[0] },
		command: func(seed uint64) string { return f.command(args, seed) },
	}.run(w, f.tell)
}

func (f *tuneFlags) tell(ctx context.Context, w World, o run.Options) error {
	return smallRun(ctx, w, o, func(res *analyze.Result) error {
		if len(res.Steadiness) == 0 {
			return errors.Join(unopened(res.Excluded), withHint(fail(Failed, "fewer than two states of the machine were measured"), "plimsoll report %s says why", shortPath(o.Dir)))
		}
		return tell(w, &f.printing, report.Steadiness, res)
	})
}
