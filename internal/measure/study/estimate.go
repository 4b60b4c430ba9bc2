package study

import (
	"time"

	"plimsoll/internal/record"
)

// TypicalTrial is taken for an environment of which no time is known.
const TypicalTrial = time.Second

// longest is some 290 years: what a time.Duration can say.
const longest = 1 << 62

// Estimate gives the time that the plan's trials take. Typical has what one
// trial of the life cycle takes in all, its clean-up too, by environment id or
// else by engine.
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
		w := &p.Workloads[c.Workload]
		one := trialTime(w, float64(t)+copying(e, w)) + float64(p.Protocol.PauseNS)
		all += one * float64(p.TrialsOf(i))
	}
	return time.Duration(min(all, longest))
}

// What opening an environment and closing it takes, more or less: with the
// payload's image alone, what a large image adds, and what a storage driver of
// its own does, which may need a daemon.
const (
	openingPlain   = 300 * time.Millisecond
	openingImage   = 2 * time.Second
	openingStorage = 1500 * time.Millisecond
)

// Opening estimates what all environments take to be opened, and closed in the
// end.
func (p *Plan) Opening() time.Duration {
	var all time.Duration
	heavy := make([]bool, len(p.Environments))
	for _, c := range p.Cells {
		heavy[c.Env] = heavy[c.Env] || large(&p.Environments[c.Env], &p.Workloads[c.Workload])
	}
	for i, e := range p.Environments {
		if e.Baseline != "" {
			continue
		}
		all += openingPlain
		if heavy[i] {
			all += openingImage
		}
		if e.Levels["storage"] != "" && heavy[i] {
			all += openingStorage
		}
	}
	return all
}

// large says whether a workload's image is one of a distribution.
func large(e *record.Environment, w *record.Workload) bool {
	switch e.Levels["image"] {
	case "":
		return !lifeCycle[w.Name]
	case "payload", "busybox":
		return false
	}
	return true
}

// copying is what a storage driver that copies the image for each container
// takes for a large one, ns.
func copying(e *record.Environment, w *record.Workload) float64 {
	switch e.Levels["storage"] {
	case "vfs", "dir", "copy":
		if large(e, w) {
			return float64(3 * time.Second)
		}
	}
	return 0
}
