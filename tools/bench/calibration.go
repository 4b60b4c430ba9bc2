package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/tools/bench/calibrate"
)

// calibration prints how often the statistics keep what they say, over
// simulated runs whose truth is known.
func calibration(ctx context.Context, args ...string) error {
	f := flag.NewFlagSet("calibration", flag.ExitOnError)
	reps := f.Int("reps", 2000, "repetitions of each row")
	families := f.Int("families", 400, "repetitions of each row of 50 environments")
	seed := f.Uint64("seed", 1, "of the random numbers")
	pairs := f.Bool("pairs", false, "only of two runs with the weights of the baselines learnt")
	hosts := f.Bool("hosts", false, "only of several hosts")
	only := f.String("shapes", "", "only these, with commas between them: log-normal,outliers")
	asJSON := f.Bool("json", false, "print JSON")
	if err := f.Parse(args); err != nil {
		return err
	}
	all := []int{6, 10, 20, 30, 50, 100}
	plan := calibrate.Plan{Seed: *seed, Blocks: all, Clustered: []int{6, 10, 20}, Families: []int{6, 10, 20, 50},
		Powers: all, Pairs: []int{6, 10, 20, 50}, HostBlocks: []int{6, 10, 20}, Reps: *reps, FamilyReps: *families}
	switch {
	case *pairs:
		plan = calibrate.Plan{Seed: *seed, Pairs: plan.Pairs, Reps: *reps}
	case *hosts:
		plan = calibrate.Plan{Seed: *seed, HostBlocks: plan.HostBlocks, Reps: *reps}
	}
	if *only != "" {
		for _, s := range calibrate.Shapes() {
			if slices.Contains(strings.Split(*only, ","), s.Name) {
				plan.Shapes = append(plan.Shapes, s)
			}
		}
		if plan.Shapes == nil {
			return fmt.Errorf("no shape is called %q", *only)
		}
	}
	r, err := calibrate.Run(ctx, plan)
	if err != nil {
		return err
	}
	if *asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(r)
	} else {
		err = r.Text(os.Stdout)
	}
	if err != nil {
		return err
	}
	if len(r.Misses) > 0 {
		return fmt.Errorf("%d rows are not as demanded", len(r.Misses))
	}
	return nil
}
