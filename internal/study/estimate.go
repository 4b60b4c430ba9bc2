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
	block := 0.0
	for _, c := range p.Cells {
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
		block += float64(t) + float64(p.Protocol.PauseNS)
	}
	n := p.Protocol.PerBlock * (p.Protocol.Warmup + p.Protocol.Blocks)
	return time.Duration(min(block*float64(n), longest))
}
