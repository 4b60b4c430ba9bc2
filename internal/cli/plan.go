package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
	"plimsoll/internal/study"
)

func planCommand(w World) *cobra.Command {
	format := "text"
	var ch changes
	c := &cobra.Command{
		Use:               "plan [STUDY]",
		Short:             "Say what would run, what can't and why, and how long it takes",
		Example:           "  plimsoll plan\n  plimsoll plan ./my.yaml --format json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			p, err := s.plan(cmd.Context(), studyName(args), ch)
			if err != nil {
				return err
			}
			if format == "json" {
				err = printJSON(w.Stdout, planJSON(p))
			} else {
				printPlan(w.Stdout, p)
			}
			if err == nil && len(p.Cells) == 0 {
				return fail(NothingHere, "nothing of this study can be measured here")
			}
			return err
		},
	}
	ch.add(c)
	formatFlag(c, &format, "text", "json")
	return c
}

// typical is what one trial takes in all with each engine, its clean-up and
// the wait for a quiet host too: for an estimate of the time, nothing else.
var typical = map[string]time.Duration{
	"host": 10 * time.Millisecond, "native": 10 * time.Millisecond, "floor": 10 * time.Millisecond,
	"oci": 80 * time.Millisecond, "charliecloud": 40 * time.Millisecond, "apptainer": 150 * time.Millisecond,
	"docker": 400 * time.Millisecond, "podman": 400 * time.Millisecond, "fake": 100 * time.Microsecond,
}

type planned struct {
	Study        record.Study         `json:"study"`
	Protocol     record.Protocol      `json:"protocol"`
	Counts       study.Counts         `json:"counts"`
	EstimateNS   int64                `json:"estimate_ns"`
	Environments []record.Environment `json:"environments"`
	Workloads    []record.Workload    `json:"workloads"`
	Excluded     []record.Excluded    `json:"excluded"`
	Remarks      []record.Remark      `json:"remarks"`
}

func planJSON(p *study.Plan) planned {
	return planned{p.Study, p.Protocol, p.Counts(), int64(p.Estimate(typical)), p.Environments, p.Workloads, p.Excluded, p.Remarks}
}

// printPlan prints what would run and what not.
func printPlan(out io.Writer, p *study.Plan) {
	n := p.Counts()
	fmt.Fprintf(out, "%s", p.Study.Name)
	if p.Study.Title != "" {
		fmt.Fprintf(out, ": %s", p.Study.Title)
	}
	fmt.Fprintln(out)
	fmt.Fprintf(out, "%d environments run, %d can't run here, %d are impossible; %d blocks and %d to warm up, %d trials, about %s, seed %d\n\n",
		n.Valid, n.Unavailable, n.Impossible, p.Protocol.Blocks, p.Protocol.Warmup, n.Trials, left(p.Estimate(typical)), p.Protocol.Seed)
	tw := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "ENVIRONMENT\tLEVELS")
	for _, e := range p.Environments {
		fmt.Fprintf(tw, "%s\t%s\n", e.ID, dash(levelsText(e.Levels)))
	}
	_ = tw.Flush() // a terminal that is gone is noticed by the next command
	for _, kind := range []string{study.Unavailable, study.Impossible} {
		heading := map[string]string{study.Unavailable: "\nUnavailable here:", study.Impossible: "\nImpossible:"}[kind]
		for _, x := range p.Excluded {
			if x.Kind != kind {
				continue
			}
			if heading != "" {
				fmt.Fprintln(out, heading)
				heading = ""
			}
			what := x.ID
			if x.Workload != "" {
				what += " with " + x.Workload
			}
			fmt.Fprintln(out, missing(what, x.Reason, x.Fix))
			if x.Source != "" {
				fmt.Fprintf(out, "    see %s\n", x.Source)
			}
		}
	}
	for i, r := range p.Remarks {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, r.Text)
	}
}

// levelsText lists levels in the order of the factors.
func levelsText(levels map[string]string) string {
	var parts []string
	for _, f := range engine.Factors {
		if l := levels[f]; l != "" {
			parts = append(parts, f+"="+l)
		}
	}
	return strings.Join(parts, " ")
}
