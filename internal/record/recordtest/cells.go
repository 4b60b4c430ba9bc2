package recordtest

import (
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"plimsoll/internal/record"
)

// Cells is a run of which each cell's true value is given: what a claim needs
// to be supported, or contradicted, on purpose.
type Cells struct {
	Spec
	// Value gives the true median of a metric, in its unit; false for none.
	Value func(env *record.Environment, work *record.Workload, metric string) (float64, bool)
	// Noise is the standard deviation of a block's logarithm in one cell.
	Noise float64
	// Fails, where given, says which trials fail, by their block.
	Fails func(env *record.Environment, work *record.Workload, block int) bool
}

// Environment makes one for a Spec.
func Environment(id, engine, baseline string, levels map[string]string) Env {
	e := env(id, engine, baseline, time.Millisecond)
	maps.Copy(e.Levels, levels)
	return e
}

// Open writes the run and opens it.
func (c Cells) Open(tb testing.TB) *record.Reader {
	tb.Helper()
	return open(tb, c.Write(tb))
}

// Write writes the run to a directory of the test and gives its path.
func (c Cells) Write(tb testing.TB) string {
	tb.Helper()
	return c.write(tb, func(s Spec) iter.Seq[*record.Trial] {
		c.Spec = s
		return c.Trials()
	})
}

// Trials makes the trials. A metric of the life cycle sets the events that it
// lies between, as far as the ones before it leave them free.
func (c Cells) Trials() iter.Seq[*record.Trial] {
	return func(yield func(*record.Trial) bool) {
		rng := rand.New(rand.NewPCG(c.Seed, 3))
		for t := range c.Spec.Trials() {
			e, w := c.cell(t)
			t.Values, t.Host = map[string]float64{}, nil
			if c.Fails != nil && c.Fails(e, w, t.Block) {
				t.Failure = &record.Failure{Class: record.EngineError, Text: "it was told to fail"}
			}
			if t.Failure == nil {
				t.Events = map[record.Event]int64{record.Request: t.Events[record.Request]}
				for _, m := range w.AllMetrics() {
					v, ok := c.Value(e, w, m.ID)
					if !ok {
						continue
					}
					if m.Kind != record.Check {
						v *= math.Exp(c.Noise * rng.NormFloat64())
					}
					put(t, m, v)
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

func put(t *record.Trial, m record.Metric, v float64) {
	if m.From == "" {
		t.Values[m.ID] = v
		return
	}
	from, ok := t.Events[m.From]
	if !ok {
		from = t.Events[record.Request] + int64(len(t.Events))*int64(time.Hour)
		t.Events[m.From] = from
	}
	if _, taken := t.Events[m.To]; !taken {
		t.Events[m.To] = from + int64(v)
	}
}

func (c Cells) cell(t *record.Trial) (*record.Environment, *record.Workload) {
	var e *record.Environment
	var w *record.Workload
	for i := range c.Envs {
		if c.Envs[i].ID == t.Env {
			e = &c.Envs[i].Environment
		}
	}
	for i := range c.Workloads {
		if c.Workloads[i].ID == t.Workload {
			w = &c.Workloads[i]
		}
	}
	return e, w
}
