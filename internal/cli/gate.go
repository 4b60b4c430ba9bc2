package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/threshold"
)

// gateFlags are what a gate lets pass.
type gateFlags struct {
	failAbove, file, noise  string
	strict, missing, unlike bool
	failures                string
}

func (f *gateFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.failAbove, "fail-above", "", "gate: fail if a metric is worse by more than this, such as 5%")
	fl.StringVar(&f.file, "thresholds", "", "gate: a YAML file with thresholds by metric, workload and environment")
	fl.BoolVar(&f.strict, "strict", false, "gate: exit with status 4 if it cannot tell")
	fl.StringVar(&f.failures, "allow-failures", "", "gate: let up to this share more of a cell's trials fail than in BASE (default 5%)")
	fl.BoolVar(&f.missing, "allow-missing", false, "gate: pass even if NEW lacks what BASE has")
	fl.BoolVar(&f.unlike, "unlike", false, "gate even between different machines or protocols")
	completesPaths(c, yamlEndings, "thresholds")
}

// thresholds puts the gate together; nil where none is asked for.
func (f *gateFlags) thresholds() (*gate.Thresholds, error) {
	limit, err := percentage("fail-above", f.failAbove)
	if err != nil {
		return nil, err
	}
	if limit == 0 && f.file == "" {
		if f.strict || f.missing || f.unlike || f.failures != "" || f.noise != "" {
			return nil, withHint(fail(Usage, "--strict, --allow-failures, --allow-missing, --unlike and --noise are for a gate, and none is asked for"), "give --fail-above 5%%, or --thresholds FILE")
		}
		return nil, nil
	}
	var t gate.Thresholds
	if f.file != "" {
		data, err := yamlfile.ReadGiven(f.file)
		if err != nil {
			return nil, fail(Usage, "reading the thresholds: %w", err)
		}
		if t, err = threshold.Read(f.file, data); err != nil {
			return nil, fail(Usage, "%w", err)
		}
	}
	if limit > 0 {
		t.FailAbove = limit
	}
	t.AllowMissing, t.Unlike = f.missing, f.unlike
	if t.AllowFailures, err = f.allowFailures(); err != nil {
		return nil, err
	}
	if f.noise != "" {
		t.Noise, err = readNoise(f.noise)
	}
	return &t, err
}

// allowFailures is the share that --allow-failures names; nil is the gate's own.
func (f *gateFlags) allowFailures() (*float64, error) {
	if f.failures == "" {
		return nil, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(f.failures, "%"), 64)
	if err != nil || !isPercentage(f.failures) || !(v >= 0 && v <= 100) {
		return nil, fail(Usage, "--allow-failures is %q: expected a percentage from 0%% to 100%%, such as 5%%", f.failures)
	}
	return new(v / 100), nil
}

// readNoise takes the largest noise floor of a self-test: that of the machine.
func readNoise(path string) (map[string]float64, error) {
	r, err := readSelfTest(path)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, n := range r.Noise {
		out[""] = max(out[""], n.Relative)
	}
	return out, nil
}

// refused gives a gate that says nothing its status and its advice.
func refused(err error) error {
	if no, ok := errors.AsType[*gate.RefusedError](err); ok {
		return withHint(fail(Usage, "%w", err), "%s", no.Advice)
	}
	return fail(Failed, "%w", err)
}

// gateStatus is what a gate makes of the exit status; nil is no gate.
func gateStatus(g *compare.Gate, strict bool) error {
	const see = "the report says which, and why"
	switch {
	case g == nil:
	case g.State == compare.GateFails:
		return withHint(fail(GateFailed, "the gate failed: %d of %d", g.Failed, g.Gated), see)
	case g.State == compare.Inconclusive && strict && g.Inconclusive == 0:
		return withHint(fail(GateOpen, "the gate cannot tell: a run is incomplete"), "%s", see)
	case g.State == compare.Inconclusive && strict && g.Machine == g.Inconclusive:
		return withHint(fail(GateOpen, "the gate cannot tell: the machine was in another state, which may explain what differs in %d of %d cells", g.Machine, g.Gated), "measure both as environments of one run, or both while nothing else runs; %s", see)
	case g.State == compare.Inconclusive && strict:
		return withHint(fail(GateOpen, "the gate cannot tell: %d of %d cells are inconclusive", g.Inconclusive, g.Gated), "run more blocks; %s", see)
	}
	return nil
}
