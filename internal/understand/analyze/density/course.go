package density

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// sampled is one look at the machine's memory.
type sampled struct {
	at   int64
	free float64 // what is not, bytes
}

// readCourse takes what was sampled out of a series.
func (r *Ramp) readCourse(steps []record.DensityStep) {
	var all []sampled
	for i := range steps {
		if s := &steps[i]; s.Phase == record.RampSample && s.Memory != nil && s.Memory.Free != nil {
			all = append(all, sampled{s.At, float64(*s.Memory.Free)})
		}
	}
	if len(all) == 0 {
		return
	}
	for _, s := range all {
		r.Course.N = append(r.Course.N, float64(s.at-all[0].at)/1e9)
		r.Course.Y = append(r.Course.Y, s.free-all[0].free)
	}
	for i := range steps {
		s := &steps[i]
		begin := map[string]record.Event{record.RampUp: record.Request, record.RampDown: record.Stop}[s.Phase]
		if at, ok := s.Events[begin]; ok {
			if v, ok := spike(all, at, s.At); ok {
				r.Spikes = append(r.Spikes, v)
			}
		}
	}
}

// spike is what was taken at most between two moments, beyond what was taken before
// and after: it is known where a sample lies in between and on either side.
func spike(all []sampled, from, to int64) (float64, bool) {
	at := func(t int64) int {
		i, _ := slices.BinarySearchFunc(all, t, func(s sampled, t int64) int { return cmp.Compare(s.at, t) })
		return i
	}
	first, next := at(from), at(to)
	if first == 0 || first >= next || next == len(all) {
		return 0, false
	}
	most := slices.MaxFunc(all[first:next], func(a, b sampled) int { return cmp.Compare(a.free, b.free) }).free
	return max(0, most-max(all[first-1].free, all[next].free)), true
}

// peaks are the metrics of what was sampled.
func (r *Ramp) peaks(set func(string, float64, bool)) {
	if len(r.Course.Y) == 0 {
		return
	}
	set(record.DensityPeak, slices.Max(r.Course.Y), true)
	if len(r.Spikes) == 0 {
		return
	}
	set(record.DensitySpike, slices.Max(r.Spikes), true)
	set(record.DensitySpikes, float64(lists.Count(r.Spikes, func(v float64) bool { return v >= record.SpikeBytes })), true)
}

// courseGrid is how many stretches of time a course of several ramps has at most, and
// courseStretch the least of them, s.
const courseGrid, courseStretch = 200, 0.1

// course lays the ramps over one grid of time: of each stretch the most, so that no
// spike is lost, and of the ramps that have one the median, as long as that is half of
// them.
func course(ramps []*Ramp) *Points {
	end := 0.0
	for _, r := range ramps {
		if n := len(r.Course.N); n > 0 {
			end = max(end, r.Course.N[n-1])
		}
	}
	width := max(courseStretch, end/courseGrid)
	at := map[int][]float64{}
	sampled := 0
	for _, r := range ramps {
		most := map[int]float64{}
		for i, t := range r.Course.N {
			k := int(t / width)
			if v, ok := most[k]; !ok || r.Course.Y[i] > v {
				most[k] = r.Course.Y[i]
			}
		}
		for k, v := range most {
			at[k] = append(at[k], v)
		}
		if len(most) > 0 {
			sampled++
		}
	}
	if sampled == 0 {
		return nil
	}
	out := &Points{}
	for k := range int(math.Floor(end/width)) + 1 {
		if v := at[k]; 2*len(v) >= sampled {
			out.N, out.Y = append(out.N, float64(k)*width), append(out.Y, stats.Median(stats.Sorted(v)))
		}
	}
	return out
}
