// Package derive reads what whole protocols recorded step by step, and derives
// the metrics of a trial from it.
package derive

import (
	"io"
	"iter"
	"maps"
	"math"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/load"
)

// Trials yields the trials of a record as Reader.Trials does, with the metrics
// of ramps and open loops among the values: a record holds what was measured,
// step by step, and what that comes to is derived here, on each reading. A
// series that can't be read leaves its metrics missing.
func Trials(r *record.Reader) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for t, err := range r.Trials() {
			if err == nil {
				Add(r, t)
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// Series is what a trial's series shows: a ramp, an open loop, or neither.
type Series struct {
	Ramp *density.Ramp
	Loop *load.OpenLoop
	File string
	Err  error // why the file could not be read
}

// Add reads the series of a trial that has one, and adds its metrics to the
// trial's values. What an earlier version has stored there stays as it is.
func Add(r *record.Reader, t *record.Trial) Series {
	var s Series
	if !t.OK() {
		return s
	}
	for _, name := range t.Samples {
		switch {
		case strings.HasSuffix(name, "."+record.DensitySamples+".jsonl"):
			var steps []record.DensityStep
			if steps, s.Err = readAll[record.DensityStep](r, name); s.Err == nil {
				s.Ramp = density.ReadRamp(steps)
				addValues(t, s.Ramp.Values())
			}
		case strings.HasSuffix(name, "."+record.LoadSamples+".jsonl"):
			var steps []record.LoadStep
			if steps, s.Err = readAll[record.LoadStep](r, name); s.Err == nil {
				s.Loop = load.ReadLoad(steps, searched(steps))
				addValues(t, s.Loop.Values())
			}
		default:
			continue
		}
		s.File = name
		break
	}
	return s
}

// searched says whether the highest rate was looked for. A load of a given rate
// is one probe; a search that came to anything has at least two, since its first
// one only finds out where to begin.
func searched(steps []record.LoadStep) bool {
	return lists.Count(steps, func(s record.LoadStep) bool { return s.Sum != nil }) > 1
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

func readAll[T any](r *record.Reader, name string) ([]T, error) {
	f, err := r.Samples(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return lines[T](f, name)
}

func lines[T any](in io.Reader, name string) ([]T, error) {
	var out []T
	for v, err := range record.ReadLines[T](in, name) {
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
