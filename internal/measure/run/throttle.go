package run

import (
	"strconv"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/record"
)

// throttling is for how long an environment's CPU limit had held processes back
// when a trial began.
type throttling struct {
	of engine.Throttler // nil where no group of ours tells
	at time.Duration
}

func (s *site) throttling(o *openEnv) throttling {
	env, ok := o.env.(engine.Throttler)
	if !ok || s.limits(o).CPUs <= 0 {
		return throttling{}
	}
	at, ok := env.Throttled()
	if !ok {
		return throttling{}
	}
	return throttling{env, at}
}

// since is by how much it has grown; nil where nobody can tell.
func (before throttling) since() *int64 {
	if before.of == nil {
		return nil
	}
	now, ok := before.of.Throttled()
	if !ok || now < before.at {
		return nil
	}
	return new(int64(now - before.at))
}

// fillThrottled takes from the payload's report for how long its own group was
// throttled, where the engine keeps the limit: by a group that was made for this
// container and goes with it. What the engine did outside of it no limit held back.
func (s *site) fillThrottled(t *record.Trial, o *openEnv, report map[string]string) {
	if t.Host == nil || t.Host.ThrottledNS != nil || s.limits(o).CPUs <= 0 || o.rec.Facts[cgroup.Limits] != cgroup.ByEngine {
		return
	}
	for key, unit := range map[string]time.Duration{"throttled_time": time.Nanosecond, "throttled_usec": time.Microsecond} {
		if n, err := strconv.ParseInt(report[key], 10, 64); err == nil && n >= 0 {
			t.Host.ThrottledNS = new(n * int64(unit))
		}
	}
}
