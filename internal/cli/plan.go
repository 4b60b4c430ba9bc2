//go:build linux

package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

func planCommand(w World) *cobra.Command {
	format, all := "text", false
	var ch changes
	c := &cobra.Command{
		Use:   "plan [STUDY | -- COMMAND…]",
		Short: "Show what would run, what can't and why, and how long it takes",
		Long: `Reads a study, looks for its engines, and lists what plimsoll run would measure here:
the environments, blocks and trials with the time that they take, and what can't be
measured, with the reason and what would help. Nothing is measured. Exits with status
5 if nothing of the study can be measured here.`,
		Example:           "  plimsoll plan\n  plimsoll plan everarts2020 --all\n  plimsoll plan baresi2024 --scale quick\n  plimsoll plan ./my.yaml --until 2% --time-budget 10m\n  plimsoll plan ./my.yaml --format json\n  plimsoll plan --engine docker,podman -- sha256sum /bin/busybox",
		Args:              studyOrCommand,
		ValidArgsFunction: completeStudies,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newSetting(w)
			if err != nil {
				return err
			}
			if err := s.useMirror(ch.mirror); err != nil {
				return err
			}
			if err := s.usePlaces(ch.places); err != nil {
				return err
			}
			if err := s.useBuilds(cmd.Context(), &ch.builds); err != nil {
				return err
			}
			name := ch.take(cmd, args)
			if err := s.chooseImage(cmd.Context(), &ch, cmd.Flags()); err != nil {
				return err
			}
			p, err := s.plan(cmd.Context(), name, ch)
			if err != nil {
				return err
			}
			if _, _, err := s.usedBuilds(&ch.builds, p, cmd.Flags()); err != nil {
				return err
			}
			if format == "json" {
				err = printJSON[planned](w.Stdout, planJSON(p, s.engines, s.untested(p)))
			} else {
				printPlan(w.paper(), p, s.engines, s.untested(p), all)
			}
			if err == nil && len(p.Cells) == 0 {
				return fail(NothingHere, "nothing of this study can be measured here")
			}
			return err
		},
	}
	ch.add(c)
	c.Flags().BoolVar(&all, "all", false, "list every environment, even if there are hundreds")
	formatFlag(c, &format, "text", "json")
	return c
}

type planned struct {
	Study        record.Study         `json:"study"`
	Protocol     record.Protocol      `json:"protocol"`
	Counts       study.Counts         `json:"counts"`
	EstimateNS   int64                `json:"estimate_ns"`
	Environments []record.Environment `json:"environments"`
	Workloads    []record.Workload    `json:"workloads"`
	Excluded     []record.Excluded    `json:"excluded"`
	// Reasons are Excluded by reason, each once.
	Reasons   []reason         `json:"reasons"`
	Remarks   []record.Remark  `json:"remarks"`
	Published *study.Published `json:"published,omitempty"`
	// Untested is what of the versions and the platform Plimsoll was not tested with.
	Untested string `json:"untested,omitempty"`
}

func planJSON(p *study.Plan, engines []engine.Engine, untested string) planned {
	return planned{p.Study, p.Protocol, p.Counts(), int64(estimate(p, engines)), p.Environments, p.Workloads, p.Excluded, reasons(p), p.Remarks, p.Published, untested}
}

// untested is what of the engines of the last plan, and of this platform, Plimsoll was not
// tested with.
func (s *setting) untested(p *study.Plan) string {
	var programs []tested.Program
	for _, f := range s.seen {
		if slices.ContainsFunc(p.Environments, func(e record.Environment) bool { return e.Engine == f.Info.Name }) {
			programs = append(programs, versionsOf(f)...)
		}
	}
	return tested.Untested(programs, platform())
}

// estimate is the time that a run of the plan takes, at most where that is open.
func estimate(p *study.Plan, engines []engine.Engine) time.Duration {
	times := timesOf(engines)
	d := p.Estimate(times)
	if b := time.Duration(p.Protocol.ClaimTimeNS); b > 0 {
		d = min(d, p.EstimateFixed(times)+b)
	}
	d += p.Opening(times)
	if b := time.Duration(p.Protocol.TimeBudgetNS); b > 0 {
		d = min(d, b)
	}
	return d
}

// timesOf are what engines and workloads say that they take.
func timesOf(engines []engine.Engine) study.Times {
	typical := map[string]time.Duration{}
	for _, e := range engines {
		info := e.Info()
		typical[info.Name] = info.Typical
	}
	known := map[string]workload.Workload{}
	of := func(w *record.Workload) workload.Workload {
		if _, ok := known[w.Name]; !ok {
			known[w.Name], _ = workload.Of(*w) // the study was read with it
		}
		return known[w.Name]
	}
	return study.Times{
		Life:  func(name string) time.Duration { return typical[name] },
		Trial: func(w *record.Workload, life time.Duration) time.Duration { return of(w).TrialTime(w.Params, life) },
		Image: func(w *record.Workload) string { return of(w).Image },
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
