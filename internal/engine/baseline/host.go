package baseline

import (
	"context"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/probe"
)

// Host runs the host's own programs: what most published studies call native.
// Its programs may differ from those in the image; Native has no such flaw.
type Host struct{}

// Info is documented in engine.Engine.
func (Host) Info() engine.Info {
	return engine.Info{Name: "host", Title: "host", Baseline: true,
		Levels: map[string][]string{engine.Network: {"host"}}}
}

// Detect is documented in engine.Engine.
func (Host) Detect(_ context.Context, kit *engine.Kit) engine.Detection {
	return engine.Detection{Usable: true, Version: kernel(), Where: kit.ProbePath,
		Levels: map[string][]engine.Level{engine.Network: usable("host")}}
}

// Open is documented in engine.Engine.
func (h Host) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	if err := engine.Refuse(h.Info(), h.Detect(ctx, kit), spec); err != nil {
		return nil, err
	}
	// The image is not used, but a spec that names one that does not exist is
	// as wrong here as elsewhere.
	if _, err := directory(ctx, kit, spec); err != nil {
		return nil, err
	}
	b, err := clirun.NewBase(ctx, kit, spec, true)
	if err != nil {
		return nil, err
	}
	b.AddFacts(map[string]string{"network": "host", "storage": "none", "isolation": "none"})
	e := &environment{Base: b, command: func(task engine.Task) (probe.Command, func() error, error) {
		path, err := hostPath(kit, task.Argv[0])
		if err != nil {
			return probe.Command{}, nothing, err
		}
		argv := append([]string{path}, task.Argv[1:]...)
		return probe.Command{Argv: argv, Env: env(task), Dir: "/"}, nothing, nil
	}}
	return open(ctx, kit, spec, e)
}

// Leftovers is documented in engine.Engine.
func (Host) Leftovers(_ context.Context, _ *engine.Kit, runID string) ([]engine.Leftover, error) {
	return leftovers(runID), nil
}
