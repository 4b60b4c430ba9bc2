package fake

import (
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// runtimes are the models that a study can name as levels of the factor
// runtime. Their parameters are documented in docs/engines.md.
var runtimes = []struct {
	name string
	make func(m Model) Model
}{
	{"medium", func(m Model) Model { return m }},
	{"twin", func(m Model) Model { return m }},
	{"fast", func(m Model) Model { return m.scaled(0.5) }},
	{"slow", func(m Model) Model { return m.scaled(3) }},
	{"delayed", func(m Model) Model { m.Delay[Create] = 5 * time.Millisecond; return m }},
	{"rough", func(m Model) Model {
		for i := range m.Phases {
			m.Phases[i].Sigma *= 4
		}
		return m
	}},
	{"bimodal", func(m Model) Model { m.Slow, m.SlowBy = 0.2, 3; return m }},
	{"drifting", func(m Model) Model { m.Drift = 5; return m }},
	{"flaky", func(m Model) Model {
		m.Failures = []Failure{{record.EngineError, 0.04}, {record.TimeOut, 0.02}, {record.Crash, 0.02}, {record.NoProof, 0.02}}
		return m
	}},
	{"broken", func(m Model) Model { m.Failures = []Failure{{record.EngineError, 1}}; return m }},
	{"foreign", func(m Model) Model { m.Foreign, m.Offset = true, 1000*time.Hour; return m }},
	{"sleeping", func(m Model) Model { m.Sleep = true; return m }},
	{"serial", func(m Model) Model {
		// 10 ms for each creation, of which there is one at a time: 100 a second.
		m.Sleep, m.Serial = true, true
		m.Phases[Create] = Dist{10 * time.Millisecond, 0.01}
		return m
	}},
	{"crowded", func(m Model) Model { m.Crowd = 500 * time.Microsecond; return m }},
	{"leaky", func(m Model) Model { m.Memory.Leak = 1 << 20; return m }},
	{"bounded", func(m Model) Model { m.Most = 20; return m }},
	{"hostile", func(m Model) Model {
		m.Hostile, m.Failures = true, []Failure{{record.EngineError, 0.5}}
		return m
	}},
	{"attached", func(m Model) Model { m.Attached = true; return m }},
}

// levels are what a study can vary. Beside the runtimes, a level adds its cost
// to a phase, as it does with real engines.
var levels = map[string][]string{
	engine.Runtime: runtimeNames(),
	engine.Client:  {"api", "cli"},
	engine.Network: {"none", "host", "bridge"},
	engine.Storage: {"overlay", "copy"},
	engine.Image:   {"payload", "busybox"},
	engine.Without: engine.WithoutLevels(mechanisms),
}

// mechanisms are what can be taken away. Each of the first three costs what its
// level does; the last two are omittedAlone each and less together.
var mechanisms = append([]engine.Mechanism{
	engine.Exchanged(engine.Client, "cli", "api"),
	engine.Exchanged(engine.Network, "bridge", "none"),
	engine.Exchanged(engine.Storage, "copy", "overlay"),
}, engine.LeftOut(engine.PIDNamespace, engine.OwnCgroup)...)

// What the mechanisms cost that the factor without takes away: each alone, and both
// together, since they share a part of their work.
const (
	omittedAlone    = 4 * time.Millisecond
	omittedTogether = 5 * time.Millisecond
)

func runtimeNames() []string {
	var names []string
	for _, r := range runtimes {
		names = append(names, r.name)
	}
	return names
}

// modelFor applies the levels of a spec to the base model.
func modelFor(base Model, spec engine.Spec) Model {
	m := base
	for _, r := range runtimes {
		if r.name == spec.Level(engine.Runtime) {
			m = r.make(m)
		}
	}
	add := func(p Phase, d time.Duration) { m.Phases[p].Median += d }
	if spec.Level(engine.Client) == "cli" {
		add(Create, 15*time.Millisecond)
		add(Remove, 15*time.Millisecond)
	}
	if spec.Level(engine.Network) == "bridge" {
		add(Create, 60*time.Millisecond)
		add(Remove, 25*time.Millisecond)
	}
	if spec.Level(engine.Storage) == "copy" {
		add(Create, 40*time.Millisecond)
		add(Remove, 10*time.Millisecond)
	}
	pid, group := spec.Omits(engine.PIDNamespace), spec.Omits(engine.OwnCgroup)
	switch {
	case pid && group:
		add(Create, -omittedTogether)
	case pid || group:
		add(Create, -omittedAlone)
	}
	return m
}
