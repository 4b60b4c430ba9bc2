package run

import (
	"cmp"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

// site is where trials are carried out: what all protocols have in common.
type site struct {
	rec *record.Run
	kit *engine.Kit
	// processes are those that the engines say are theirs.
	processes engine.Processes
	writer    *record.Writer
	progress  Progress
	disturb   *host.Sampler
	calm      *host.Quiet
	calmFor   time.Duration
	patience  patience
	dropFile  string
	insider   *insider
	watching  *watching // nil where nothing is sampled
	agents    *agents   // nil where none is asked
	tracing   *tracing  // nil where nothing is followed
	atOnce    int       // as in Options
	// settled says of the trial under way that it was refused for what can't
	// change within the run.
	settled bool

	sinceGC     int
	heapAfterGC uint64
}

func newSite(o *Options) site {
	return site{rec: o.Run, progress: o.Progress, calmFor: cmp.Or(o.Settle, settleFor), dropFile: cmp.Or(o.DropFile, dropFile), atOnce: o.AtOnce, patience: patience{pair: o.Steering.Pair}}
}

func (s *site) limit() time.Duration {
	if l := s.rec.Protocol.TrialLimitNS; l > 0 {
		return time.Duration(l)
	}
	return 30 * time.Second
}

// limits are those in force in an environment: the study's, or its own.
func (s *site) limits(o *openEnv) engine.Limits {
	p := s.rec.Protocol
	_, l, err := engine.Limited(o.rec.Levels, engine.Limits{CPUs: p.CPUs, MemoryBytes: p.MemoryBytes})
	if err != nil {
		return engine.Limits{} // such an environment is never opened
	}
	return l
}
