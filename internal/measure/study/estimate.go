package study

import (
	"cmp"
	"time"

	"plimsoll/internal/record"
)

// Times say how long things take, more or less.
type Times struct {
	// Life is what one trial of the life cycle takes in an engine, its clean-up
	// too.
	Life func(engine string) time.Duration
	// Trial is what a trial of a workload takes, where a container's life takes
	// as long.
	Trial func(w *record.Workload, life time.Duration) time.Duration
	// Image is the image that a workload runs in, unless the study names another.
	Image func(w *record.Workload) string
}

// longest is some 290 years: what a time.Duration can say.
const longest = 1 << 62

// Estimate gives the time that the plan's trials take.
func (p *Plan) Estimate(times Times) time.Duration {
	return p.estimate(times, p.Protocol.Blocks)
}

// EstimateFixed gives the time of those trials that are in the fixed blocks.
func (p *Plan) EstimateFixed(times Times) time.Duration {
	return p.estimate(times, p.Protocol.Fixed())
}

func (p *Plan) estimate(times Times, blocks int) time.Duration {
	all := 0.0
	for _, c := range p.Cells {
		e, w := &p.Environments[c.Env], &p.Workloads[c.Workload]
		life := times.Life(e.Engine)
		if copies(e) && large(e, w, times) {
			life += copying
		}
		one := float64(times.Trial(w, life)) + float64(p.Protocol.PauseNS)
		all += one * float64(p.trialsIn(c, blocks))
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
func (p *Plan) Opening(times Times) time.Duration {
	var all time.Duration
	heavy := make([]bool, len(p.Environments))
	for _, c := range p.Cells {
		heavy[c.Env] = heavy[c.Env] || large(&p.Environments[c.Env], &p.Workloads[c.Workload], times)
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
func large(e *record.Environment, w *record.Workload, times Times) bool {
	image := cmp.Or(e.Levels["image"], times.Image(w))
	return image != "payload" && image != "busybox"
}

// copying is what a storage driver that copies the image for each container takes
// for a large one.
const copying = 3 * time.Second

// copies says whether it is such a driver.
func copies(e *record.Environment) bool {
	switch e.Levels["storage"] {
	case "vfs", "dir", "copy":
		return true
	}
	return false
}
