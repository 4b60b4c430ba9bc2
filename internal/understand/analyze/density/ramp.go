package density

import (
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// Ramp is what one ramp of containers shows, derived from its series.
type Ramp struct {
	// Reached is how many ran at once; Limit is what stopped the way up, nil
	// where all came up.
	Reached int
	Limit   *record.Limit
	// Starts and Stops are request to ready and stop to removed, ns, over how
	// many ran beside the one in question.
	Starts, Stops Points
	// Memory has each part over how many ran, on the way up and at the top, by
	// the name of the part (see MemoryParts); Down on the way down.
	Memory, Down map[string]Points
	// Course is what was not free on the machine above where the ramp began, bytes,
	// over seconds from there; Spikes what each start and stop took of that only while
	// it lasted. Records of earlier versions have neither.
	Course Points
	Spikes []float64

	before, after *record.Memory
	idleBefore    *record.Idle
	idle          *record.Idle
	idleN         int
}

// Points are a curve: N containers, and a value.
type Points struct {
	N []float64 `json:"n"`
	Y []float64 `json:"y"`
}

func (p *Points) add(n int, y float64) { p.N, p.Y = append(p.N, float64(n)), append(p.Y, y) }

// MemoryParts are the parts whose sum is the footprint, and host, free and told,
// which are measured on their own.
var MemoryParts = []string{"payload", "monitor", "daemon", "kernel", "host", "free", "told"}

// FootprintParts are those whose sum is the footprint.
var FootprintParts = MemoryParts[:4]

func memoryPart(m *record.Memory, part string) *int64 {
	switch part {
	case "payload":
		return m.Payload
	case "monitor":
		return m.Monitor
	case "daemon":
		return m.Daemon
	case "kernel":
		return m.Kernel
	case "host":
		return m.Host
	case "free":
		return m.Free
	}
	return nil
}

// ReadRamp sums a series up.
func ReadRamp(steps []record.DensityStep) *Ramp {
	r := &Ramp{Memory: map[string]Points{}, Down: map[string]Points{}}
	r.readCourse(steps)
	for i := range steps {
		s := &steps[i]
		switch s.Phase {
		case record.RampBefore:
			r.before, r.idleBefore = s.Memory, s.Idle
			remember(r.Memory, s)
		case record.RampUp:
			r.Reached = max(r.Reached, s.N)
			if d, ok := between(s.Events, record.Request, record.Ready); ok {
				r.Starts.add(s.N-1, d)
			}
			remember(r.Memory, s)
		case record.RampRest:
			r.idle, r.idleN = s.Idle, s.N
			if s.Memory != nil && s.Memory.Told != nil {
				// Asked at the top only; of no container an engine tells nothing.
				r.Memory["told"] = Points{N: []float64{0, float64(s.N)}, Y: []float64{0, float64(*s.Memory.Told)}}
			}
		case record.RampDown:
			if d, ok := between(s.Events, record.Stop, record.Removed); ok {
				r.Stops.add(s.N, d)
			}
			remember(r.Down, s)
		case record.RampAfter:
			r.after = s.Memory
		case record.RampLimit:
			if r.Limit == nil {
				r.Limit = s.Limit
			}
		}
	}
	return r
}

func remember(curves map[string]Points, s *record.DensityStep) {
	if s.Memory == nil {
		return
	}
	for _, part := range MemoryParts {
		if v := memoryPart(s.Memory, part); v != nil {
			p := curves[part]
			p.add(s.N, float64(*v))
			curves[part] = p
		}
	}
}

func between(events map[record.Event]int64, from, to record.Event) (float64, bool) {
	a, ok := events[from]
	b, ok2 := events[to]
	return float64(b - a), ok && ok2
}

// slope is the estimate of what one container more adds. The first point of
// memory, with no container, is left out where there are others enough: the
// first container also brings what all of them share.
func slope(p Points) (float64, stats.Interval, bool) {
	if len(p.N) > 4 && p.N[0] == 0 {
		p = Points{p.N[1:], p.Y[1:]}
	}
	return stats.TheilSen(p.N, p.Y, stats.Level)
}

// footprint is the sum of the parts at each point at which all are known that
// are known at all.
func (r *Ramp) footprint() Points {
	payload, ok := r.Memory["payload"]
	if !ok {
		return Points{}
	}
	sum := Points{N: slices.Clone(payload.N), Y: slices.Clone(payload.Y)}
	for _, part := range FootprintParts[1:] {
		p, ok := r.Memory[part]
		if !ok {
			continue // the engine has no such part
		}
		byN := map[float64]float64{}
		for i, n := range p.N {
			byN[n] = p.Y[i]
		}
		var kept Points
		for i, n := range sum.N {
			if y, ok := byN[n]; ok {
				kept.N, kept.Y = append(kept.N, n), append(kept.Y, sum.Y[i]+y)
			}
		}
		sum = kept
	}
	return sum
}

// ends are the medians of the first and the last tenth of a curve, at least
// one point each.
func ends(p Points) (first, last float64, ok bool) {
	n := len(p.Y)
	if n == 0 {
		return 0, 0, false
	}
	k := max(1, n/10)
	return stats.Median(stats.Sorted(p.Y[:k])), stats.Median(stats.Sorted(p.Y[n-k:])), true
}

// Values are the metrics of record.DensityMetrics that the ramp has.
func (r *Ramp) Values() map[string]float64 {
	out := map[string]float64{record.DensityReached: float64(r.Reached)}
	set := func(id string, v float64, ok bool) {
		if ok && !math.IsNaN(v) {
			out[id] = v
		}
	}
	first, last, ok := ends(r.Starts)
	set(record.DensityStartFirst, first, ok)
	set(record.DensityStartLast, last, ok)
	// The way down begins when most run.
	first, last, ok = ends(r.Stops)
	set(record.DensityStopFirst, first, ok)
	set(record.DensityStopLast, last, ok)
	for id, p := range r.curves() {
		v, _, _ := slope(p)
		set(id, v, true)
	}
	r.peaks(set)
	r.left(set)
	r.idleCPU(set)
	return out
}

// curves are those whose slope is a metric, by its id.
func (r *Ramp) curves() map[string]Points {
	out := map[string]Points{
		record.DensityStartSlope: r.Starts, record.DensityStopSlope: r.Stops,
		record.DensityFootprint: r.footprint(),
	}
	for part, p := range r.Memory {
		out[record.DensityPart+part] = p
	}
	return out
}

// left is what is still taken when all are gone.
func (r *Ramp) left(set func(string, float64, bool)) {
	if r.before == nil || r.after == nil {
		return
	}
	for id, part := range map[string]string{
		record.DensityNotBack:                "host",
		record.DensityNotBackPart + "daemon": "daemon",
		record.DensityNotBackPart + "kernel": "kernel",
	} {
		a, b := memoryPart(r.before, part), memoryPart(r.after, part)
		if a != nil && b != nil {
			set(id, float64(*b-*a), true)
		}
	}
}

// idleCPU is what an idle container uses in a second.
func (r *Ramp) idleCPU(set func(string, float64, bool)) {
	if r.idle == nil || r.idle.OverNS <= 0 || r.idleN == 0 || r.idle.Payload == nil {
		return
	}
	each := func(ns int64) float64 { return float64(ns) / (float64(r.idle.OverNS) / 1e9) / float64(r.idleN) }
	sum := each(*r.idle.Payload)
	if r.idle.Monitor != nil {
		sum += each(*r.idle.Monitor)
	}
	if b := r.idleBefore; r.idle.Daemon != nil && b != nil && b.Daemon != nil && b.OverNS > 0 {
		// Beyond what the daemon used with none running, over as long a time.
		own := float64(*b.Daemon) * float64(r.idle.OverNS) / float64(b.OverNS)
		d := each(*r.idle.Daemon - int64(own))
		set(record.DensityIdleDaemon, d, true)
		sum += d
	}
	set(record.DensityIdle, sum, true)
}
