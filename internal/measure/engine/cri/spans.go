package cri

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/confile"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// Spans starts a private server like the user's, which is only looked at.
func (e *Engine) Spans(ctx context.Context, kit *engine.Kit, spec engine.Spec) error {
	s, err := e.connect(ctx, kit, spec.Level(engine.Endpoint))
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.canBuild(kit, spec.Level(engine.Runtime)); err != nil {
		return err
	}
	if err := private.HostNetwork(spec); err != nil {
		return err
	}
	if endpointOf(s.version.GetRuntimeName()) == containerd {
		return containerdclient.Exports(ctx, kit)
	}
	like, err := crioConfig(ctx, s.path)
	if err != nil {
		return &engine.Error{Class: record.EngineError, Text: "asking CRI-O for its configuration", Err: err}
	}
	if confile.At(like, "crio", "tracing", "enable_tracing") == nil {
		return &engine.Error{Class: record.Unsupported, Text: "this CRI-O (" + s.version.GetRuntimeVersion() + ") knows no tracing of its own"}
	}
	return nil
}

// crioTracing is what CRI-O is told so that it sends all of its spans; nil: nothing.
func crioTracing(to *engine.Collector) map[string]any {
	if to == nil {
		return nil
	}
	return map[string]any{"crio": map[string]any{"tracing": map[string]any{
		"enable_tracing": true, "tracing_endpoint": to.Addr, "tracing_sampling_rate_per_million": int64(1_000_000)}}}
}
