package fake

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Name is the engine's name in studies.
const Name = "fake"

// epoch is where the virtual clock begins, in ns: any number but 0, which
// means "did not happen".
const epoch = 1_000_000_000_000

// Fake is the engine. All its environments share one virtual clock.
type Fake struct {
	seed uint64

	mu  sync.Mutex
	now int64
}

// New makes a fake engine.
func New() *Fake { return &Fake{seed: 1, now: epoch} }

func (f *Fake) Info() engine.Info {
	return engine.Info{Name: Name, Title: "Fake (simulated)", Simulated: true, Levels: engine.Known(levels), Detached: true, Mechanisms: mechanisms,
		Typical: 100 * time.Microsecond, Images: engine.ImagesGiven, Processes: engine.Processes{None: true}}
}

func (f *Fake) Detect(context.Context, *engine.Kit) engine.Detection {
	return engine.Detection{Usable: true, Version: "simulated", Where: "built in",
		Facts: map[string]string{"simulated": "yes"}, Levels: engine.AllUsable(levels)}
}

func (f *Fake) Open(ctx context.Context, _ *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held := engine.HeldByEngine
	if spec.Level(engine.Runtime) == "attached" {
		held = engine.HeldByUs
	}
	facts := map[string]string{"simulated": "yes", "version": "simulated", engine.HeldFact: held, "limits": "none",
		"limits-reason": "nothing real runs"}
	if spec.Limits != (engine.Limits{}) {
		facts["limits"], facts["limits-reason"] = "engine", "" // as simulated as the rest
		delete(facts, "limits-reason")
	}
	for _, factor := range engine.Factors {
		level := spec.Level(factor)
		if level == engine.DefaultLevel {
			if names := levels[factor]; names != nil {
				facts[factor] = names[0]
			}
			continue
		}
		if slices.ContainsFunc(engine.Parts(factor, level), func(p string) bool { return !slices.Contains(levels[factor], p) }) {
			class := record.Unsupported
			if factor == engine.Image {
				class = record.Unavailable
			}
			return nil, &engine.Error{Class: class, Text: fmt.Sprintf("the fake engine has no level %q of %s", level, factor)}
		}
		facts[factor] = level
	}
	h := fnv.New64a()
	h.Write([]byte(spec.ID))
	for _, factor := range engine.Factors {
		if factor == engine.CPULimit || factor == engine.MemoryLimit || factor == engine.ImageOn || factor == engine.Build || factor == engine.Privileged || slices.Contains(engine.Joined, factor) {
			continue // chance is what it was before there were these factors
		}
		h.Write([]byte{0})
		h.Write([]byte(spec.Level(factor)))
	}
	m := modelFor(Medium(), spec)
	return &environment{fake: f, model: m, facts: facts,
		chance: rand.New(rand.NewPCG(f.seed, h.Sum64()))}, nil
}

func (f *Fake) Leftovers(context.Context, *engine.Kit, []engine.Thing) ([]engine.Leftover, error) {
	return nil, nil
}

// environment is the fake in one configuration.
type environment struct {
	fake   *Fake
	model  Model
	facts  map[string]string
	serial sync.Mutex // held during a creation, where the model is Serial

	mu      sync.Mutex // over what follows
	chance  *rand.Rand
	trials  int
	running int   // containers that are held
	ever    int   // containers that have been
	touched int64 // what the held ones have touched, bytes
	holding []*held
}

func (e *environment) Facts() map[string]string { return e.facts }

func (e *environment) Calibrate(ctx context.Context, _ engine.Task, rounds int) ([]probe.Exchange, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := e.clock()
	defer c.keep()
	var xs []probe.Exchange
	for range rounds {
		x := probe.Exchange{Sent: c.stamp()}
		c.pass(20_000)
		x.Inside = c.stamp() + e.offset()
		c.pass(20_000)
		x.Received = c.stamp()
		xs = append(xs, x)
	}
	return xs, nil
}

func (e *environment) offset() int64 {
	if e.model.Foreign {
		return int64(e.model.Offset)
	}
	return 0
}
