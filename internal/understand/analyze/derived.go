package analyze

import (
	"iter"
	"maps"
	"math"
	"strings"

	"plimsoll/internal/record"
)

// Trials yields the trials of a record as Reader.Trials does, with the metrics
// of ramps and open loops among the values: a record holds what was measured,
// step by step, and what that comes to is derived here, on each reading. A
// series that can't be read leaves its metrics missing.
func Trials(r *record.Reader) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for t, err := range r.Trials() {
			if err == nil {
				Derive(r, t)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// Derive adds to one trial what Trials adds to all.
func Derive(r *record.Reader, t *record.Trial) { deriveFrom(r, t) }

// series is what a trial's series shows: a ramp, an open loop, or neither.
type series struct {
	ramp *Ramp
	loop *OpenLoop
	file string
	err  error // why the file could not be read
}

// deriveFrom reads the series of a trial that has one, and adds its metrics to
// the trial's values. What an earlier version has stored there stays as it is.
func deriveFrom(r *record.Reader, t *record.Trial) series {
	var s series
	if !t.OK() {
		return s
	}
	for _, name := range t.Samples {
		switch {
		case strings.HasSuffix(name, "."+record.DensitySamples+".jsonl"):
			var steps []record.DensityStep
			if steps, s.err = readAll[record.DensityStep](r, name); s.err == nil {
				s.ramp = ReadRamp(steps)
				addValues(t, s.ramp.Values())
			}
		case strings.HasSuffix(name, "."+record.LoadSamples+".jsonl"):
			var steps []record.LoadStep
			if steps, s.err = readAll[record.LoadStep](r, name); s.err == nil {
				s.loop = ReadLoad(steps, searched(steps))
				addValues(t, s.loop.Values())
			}
		default:
			continue
		}
		s.file = name
		break
	}
	return s
}

// searched says whether the highest rate was looked for. A load of a given rate
// is one probe; a search that came to anything has at least two, since its first
// one only finds out where to begin.
func searched(steps []record.LoadStep) bool {
	probes := 0
	for i := range steps {
		if steps[i].Sum != nil {
			probes++
		}
	}
	return probes > 1
}

func addValues(t *record.Trial, derived map[string]float64) {
	values := maps.Clone(t.Values) // the reader's own map is not ours to change
	if values == nil {
		values = map[string]float64{}
	}
	for id, v := range derived {
		if _, stored := values[id]; !stored && !math.IsNaN(v) && !math.IsInf(v, 0) {
			values[id] = v
		}
	}
	t.Values = values
}
