// Package fake is an engine that only pretends: its containers take times
// drawn from a given distribution and fail at a given rate. It serves
// demonstrations, documentation, the tests of everything that reads results,
// and the proof that a known difference is found and an absent one is not.
//
// It is opinionated: a fake can never be taken for a measurement (its name,
// its facts and its version say so); the same seed gives the same run; and by
// default no time passes, since its clock is virtual.
package fake

import (
	"math"
	"math/rand/v2"
	"time"

	"plimsoll/internal/record"
)

// Phase is a part of a container's life, in the order of Phases.
type Phase int

// The phases.
const (
	Create Phase = iota // request to created
	Boot                // start to first
	Output              // first to ready
	Work                // first to done
	End                 // done (or the signal to stop) to exit
	Remove              // exit to removed
	phases
)

// Dist is a log-normal distribution: its median, and the standard deviation
// of its logarithm.
type Dist struct {
	Median time.Duration
	Sigma  float64
}

// Failure is a kind of failure with its rate, 0 to 1.
type Failure struct {
	Class record.Class
	Rate  float64
}

// Model is how one environment behaves.
type Model struct {
	Phases [phases]Dist
	// Delay is added to a phase: a known truth that an analysis must find.
	Delay [phases]time.Duration
	// Slow is the share of trials whose create and boot take SlowBy times as
	// long: a second mode.
	Slow, SlowBy float64
	// Drift is the relative growth of every phase over a thousand trials of
	// this environment.
	Drift float64
	// Failures are tried in order; their rates add up.
	Failures []Failure
	// Foreign: the payload's clock is off by Offset.
	Foreign bool
	Offset  time.Duration
	// Sleep: time really passes.
	Sleep bool
	// Crowd is added to the creation and the removal of a container for each
	// one that is held: the known slope of a density.
	Crowd time.Duration
	// Most is the largest number of containers that can be held; 0 is no bound.
	Most int
	// Serial: one container at a time is created, the others wait. With Sleep,
	// the engine carries 1 / Create containers a second and no more.
	Serial bool
	// Hostile: containers print what harms a careless terminal or page, 100 MB of
	// it, and no proof; the engine's refusals quote it.
	Hostile bool
	// Attached: held containers are said to be held by a process of ours.
	Attached bool
	// Memory is what containers would take.
	Memory Memory
}

// Memory is a model of what containers and engine take, in bytes.
type Memory struct {
	Payload int64 // of each that is held, beside what its payload touches
	Monitor int64 // of each that is held
	Daemon  int64 // of the engine, without any container
	Grows   int64 // the engine's, for each that is held; given back
	Leak    int64 // the engine's, for each that has ever been; not given back
}

// Medium is the model of the level "medium", from which all others are made:
// times of the size that a bare runtime has.
func Medium() Model {
	m := Model{}
	m.Phases[Create] = Dist{12 * time.Millisecond, 0.08}
	m.Phases[Boot] = Dist{4 * time.Millisecond, 0.10}
	m.Phases[Output] = Dist{60 * time.Microsecond, 0.20}
	m.Phases[Work] = Dist{200 * time.Microsecond, 0.10}
	m.Phases[End] = Dist{900 * time.Microsecond, 0.15}
	m.Phases[Remove] = Dist{6 * time.Millisecond, 0.10}
	m.Memory = Memory{Payload: 400 << 10, Monitor: 3 << 20, Daemon: 60 << 20, Grows: 100 << 10}
	return m
}

func (m Model) scaled(by float64) Model {
	for i := range m.Phases {
		m.Phases[i].Median = time.Duration(float64(m.Phases[i].Median) * by)
	}
	return m
}

// draw gives the times of one trial, the n-th from 0 of its environment.
func (m *Model) draw(r *rand.Rand, n int) (times [phases]time.Duration) {
	grow := 1 + m.Drift*float64(n)/1000
	slow := m.Slow > 0 && r.Float64() < m.Slow
	for i, d := range m.Phases {
		t := float64(d.Median) * math.Exp(d.Sigma*r.NormFloat64()) * grow
		if slow && (Phase(i) == Create || Phase(i) == Boot) {
			t *= m.SlowBy
		}
		times[i] = time.Duration(t) + m.Delay[i]
	}
	return times
}

// fail decides whether a trial fails, and how.
func (m *Model) fail(r *rand.Rand) record.Class {
	u := r.Float64()
	for _, f := range m.Failures {
		if u < f.Rate {
			return f.Class
		}
		u -= f.Rate
	}
	return ""
}
