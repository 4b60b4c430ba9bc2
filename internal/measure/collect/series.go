//go:build linux

package collect

import (
	"slices"

	"plimsoll/internal/record"
)

// Series is a finished series.
type Series struct {
	record.Series
}

// Name is the collector's name for record.SamplesName and CreateSamples:
// "machine", or "machine-ROLE".
func (s *Series) Name() string { return s.Collector }

// Values sums the series up, by the ids of Metrics. What was not seen is left
// out, never 0. With a Role the ids are the same: the caller chooses whose it
// records.
func (s *Series) Values() map[string]float64 {
	out := map[string]float64{}
	for _, m := range summaries {
		var sum float64
		ok := true
		for _, id := range m.columns {
			_, values := s.Curve(id)
			n, have := m.how(values)
			ok = ok && have
			sum += float64(n)
		}
		if ok {
			out[m.metric.ID] = sum * m.scale
		}
	}
	return out
}

// grown is how far a counter went. A single value says nothing: the zero from
// before the request, or something that was seen only once.
func grown(v []int64) (int64, bool) {
	if len(v) < 2 {
		return 0, false
	}
	return v[len(v)-1] - v[0], true
}

func highest(v []int64) (int64, bool) {
	if len(v) == 0 {
		return 0, false
	}
	return slices.Max(v), true
}

// sunk is how far a level went below where it was at first.
func sunk(v []int64) (int64, bool) {
	if len(v) < 2 {
		return 0, false
	}
	return v[0] - slices.Min(v), true
}
