package run

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// protocol is how a trial is carried out. Each kind of workload has its own, in
// a file of its own.
type protocol interface {
	// trial carries one trial out and gives what is to be recorded, with the
	// output that is to be kept beside it. The error is only for what ends the
	// run: the context.
	trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error)
	// watched says whether the machine is sampled during its trials, by default
	// or where the study asks for it.
	watched(asked bool) bool
}

// protocol gives the protocol of a workload.
func (r *runner) protocol(i workload.Instance) protocol {
	switch {
	case i.Pull != nil:
		return pull{&r.site, r.pulls, *i.Pull}
	case i.Plan != nil && i.Plan.Launch != nil:
		return parallel{site: &r.site, plan: i.Plan, unmet: r.unmet, place: r.Place, look: r.LookPath, ways: r.ways, host: &r.host, session: r.session}
	case i.Plan != nil:
		return benchmark{site: &r.site, plan: i.Plan, unmet: r.unmet, onHost: r.onHost}
	case i.Exec:
		return execution{&r.site, i}
	case i.Echo != nil:
		return echoed{&r.site, *i.Echo}
	case i.Serve != nil:
		return served{&r.site, *i.Serve}
	case i.Density != nil:
		return densityRamp{&r.site, *i.Density}
	case i.Load != nil:
		return openLoop{&r.site, *i.Load}
	case i.LeastMemory != nil:
		return leastMemory{&r.site, *i.LeastMemory}
	}
	return lifeCycle{&r.site, i}
}
