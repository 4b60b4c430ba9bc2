package gate

import (
	"fmt"
	"maps"
	"math"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// underNoise refuses thresholds that lie under the noise floor: a gate there
// would fail or pass by chance. The floor is what a self-test found, and what
// a run itself tells by an environment that was entered twice; a run may have
// either in its record.
func underNoise(c *compare.Changes, gated []*compare.Change, limits []float64, tested map[string]float64) error {
	twins := [2]map[[2]string]bool{twins(c.BaseRun), twins(c.NewRun)}
	recorded, by := recorded(c)
	for i, ch := range gated {
		floor, from := twinFloor(c, ch, twins)
		if ch.Metric.ID == "startup" && recorded > floor {
			floor, from = recorded, by
		}
		for _, env := range []string{ch.Env, ch.NewEnv} {
			v, ok := tested[env]
			if !ok || env == "" {
				v = tested[""]
			}
			if ch.Metric.ID == "startup" && v > floor {
				floor, from = v, "the self-test"
			}
		}
		if floor > limits[i] {
			return &RefusedError{
				fmt.Sprintf("the gate is refused: the threshold of %s for %s of %s in %s is below the noise floor of %s, from %s", sample.Percent(limits[i]), ch.Metric.ID, c.Work(ch.Workload), ch.Name(), sample.Percent(floor), from),
				"raise the threshold, run more blocks, or quiet the machine (plimsoll doctor)"}
		}
	}
	return nil
}

// recorded is the largest noise floor that a self-test found before one of the
// runs: that of the machine.
func recorded(c *compare.Changes) (floor float64, from string) {
	for _, s := range []struct {
		name string
		r    *analyze.Result
	}{{"BASE", c.BaseRun}, {"NEW", c.NewRun}} {
		for _, n := range s.r.Run.Noise {
			if n.From == record.NoiseSelfTest && n.Relative > floor {
				floor, from = n.Relative, "the self-test in the record of "+s.name
			}
		}
	}
	return floor, from
}

// Noise is what a run tells of the noise by the environments that it has twice,
// for each metric of each workload that is not sampled.
func Noise(r *analyze.Result) []record.Noise {
	twins := twins(r)
	var out []record.Noise
	for w := range r.Workloads {
		for t := range r.Workloads[w].Tables {
			table := &r.Workloads[w].Tables[t]
			if table.Metric.Kind != "" {
				continue
			}
			for _, p := range table.Pairs {
				if twins[[2]string{p.A, p.B}] && p.Lo != nil {
					out = append(out, record.Noise{From: record.NoiseTwins, Env: p.A, With: p.B, Workload: r.Workloads[w].ID,
						Metric: table.Metric.ID, Relative: apart(&p), Blocks: p.Blocks})
				}
			}
		}
	}
	return out
}

// apart is how far two that are one came out from each other, or the half of
// the interval where that is more.
func apart(p *analyze.Pair) float64 { return max(math.Abs(p.Value-1), (*p.Hi-*p.Lo)/2) }

// HasTwins says whether an environment is among these twice.
func HasTwins(envs []record.Environment) bool { return len(twinsOf(envs)) > 0 }

// twinFloor is the noise floor of a metric by the environments that one of the
// runs has twice.
func twinFloor(c *compare.Changes, ch *compare.Change, twins [2]map[[2]string]bool) (floor float64, from string) {
	for k, s := range []struct {
		name string
		r    *analyze.Result
	}{{"BASE", c.BaseRun}, {"NEW", c.NewRun}} {
		w := s.r.Workload(ch.Workload)
		if len(twins[k]) == 0 || w == nil || w.Table(ch.Metric.ID) == nil {
			continue
		}
		for _, p := range w.Table(ch.Metric.ID).Pairs {
			if p.Lo == nil || !twins[k][[2]string{p.A, p.B}] {
				continue
			}
			if v := apart(&p); v > floor {
				floor, from = v, fmt.Sprintf("%s by %s and %s, the same environment twice,", s.name, p.A, p.B)
			}
		}
	}
	return floor, from
}

// twins are those of a run. What was imported has no levels that could tell two
// environments apart.
func twins(r *analyze.Result) map[[2]string]bool {
	if r.Run.Imported != nil {
		return nil
	}
	return twinsOf(r.Environments)
}

// twinsOf finds the pairs of environments that are one, entered twice.
func twinsOf(envs []record.Environment) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, a := range envs {
		for _, b := range envs {
			if a.ID != b.ID && a.Engine == b.Engine && a.Baseline == b.Baseline && maps.Equal(a.Levels, b.Levels) {
				out[[2]string{a.ID, b.ID}] = true
			}
		}
	}
	return out
}
