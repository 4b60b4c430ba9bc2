package study

import (
	"strconv"
	"time"
)

// TypicalTrial is taken for an environment of which no time is known.
const TypicalTrial = time.Second

// longest is some 290 years: what a time.Duration can say.
const longest = 1 << 62

// Estimate gives the time that the plan's trials take. Typical has what one
// trial takes in all, its clean-up too, by environment id or else by engine.
func (p *Plan) Estimate(typical map[string]time.Duration) time.Duration {
	all := 0.0
	for i, c := range p.Cells {
		e := &p.Environments[c.Env]
		t, ok := typical[e.ID]
		if !ok {
			t, ok = typical[e.Engine]
		}
		if !ok {
			t = TypicalTrial
		}
		// By convention, this parameter of a workload is how long it runs.
		if s, err := strconv.Atoi(p.Workloads[c.Workload].Params["seconds"]); err == nil {
			t += time.Duration(s) * time.Second
		}
		one := protocolTime(p.Workloads[c.Workload].Params, t) + float64(p.Protocol.PauseNS)
		all += one * float64(p.TrialsOf(i))
	}
	return time.Duration(min(all, longest))
}

// The parameters by which a workload is known as a whole protocol, and how
// many rates a search tries, more or less.
const (
	rampCount, rampRest       = "count", "rest"
	loadRate, loadFor, probes = "rate", "seconds", 10
)

// protocolTime is what one trial takes, ns, where a container takes each: as
// many as a ramp has, with its rests, or as long as an open loop lasts.
func protocolTime(params map[string]string, each time.Duration) float64 {
	count, err := strconv.Atoi(params[rampCount])
	if rest, err2 := time.ParseDuration(params[rampRest]); err == nil && err2 == nil {
		return float64(each)*float64(count) + 2*float64(rest)
	}
	seconds, err := strconv.Atoi(params[loadFor])
	if rate, ok := params[loadRate]; ok && err == nil {
		if _, err := strconv.Atoi(rate); err != nil {
			seconds *= probes
		}
		return float64(each) + float64(seconds)*float64(time.Second)
	}
	return float64(each)
}
