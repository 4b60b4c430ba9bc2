package run

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// unmet says which of a workload's needs this machine, the study's limits or
// the engine do not meet.
func (r *runner) unmet(n workload.Needs, o *openEnv) *record.Failure {
	p := r.limits(o)
	fail := func(class record.Class, format string, args ...any) *record.Failure {
		return &record.Failure{Class: class, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case n.Detached && !r.engines[o.rec.Engine].Info().Detached:
		return fail(record.Unsupported, "the workload needs an engine whose containers run by themselves")
	case n.CPUs > runtime.NumCPU():
		return fail(record.Unavailable, "the workload needs %d CPUs and this machine has %d", n.CPUs, runtime.NumCPU())
	case p.CPUs > 0 && float64(n.CPUs) > p.CPUs:
		return fail(record.Skipped, "the workload needs %d CPUs and its limit is %g", n.CPUs, p.CPUs)
	case p.MemoryBytes > 0 && n.MemoryBytes > p.MemoryBytes:
		return fail(record.Skipped, "the workload needs %d MiB of memory and its limit is %d", n.MemoryBytes>>20, p.MemoryBytes>>20)
	}
	if n.DiskBytes > 0 {
		var fs unix.Statfs_t
		if err := unix.Statfs(r.kit.Dir, &fs); err == nil && int64(fs.Bavail)*fs.Bsize < n.DiskBytes {
			return fail(record.Unavailable, "the workload needs %d MiB on disk, and less is free below %s", n.DiskBytes>>20, r.State.Dir)
		}
	}
	return nil
}

// onHost is where roles run that stay on the host: the programs of the same
// image by chroot, with the host's network.
func (r *runner) onHost(ctx context.Context, o *openEnv) (engine.Environment, error) {
	const native = "native"
	image := cmp.Or(o.image, engine.ImageName(engine.Spec{Levels: o.rec.Levels}))
	key := opened{"", image}
	if there := r.session.envs[key]; there != nil {
		return there.env, nil
	}
	e := r.engines[native]
	if e == nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "a role of the workload runs on the host, and this plimsoll has no engine native"}
	}
	p := r.rec.Protocol
	env, err := e.Open(ctx, r.kit, engine.Spec{
		ID: "on-host-" + image, Levels: map[string]string{engine.Image: image},
		Limits: engine.Limits{CPUs: p.CPUs, MemoryBytes: p.MemoryBytes},
	})
	if err != nil {
		return nil, fmt.Errorf("opening native for a role on the host: %w", err)
	}
	r.session.envs[key] = &openEnv{rec: &record.Environment{Engine: native}, env: env, image: image, order: len(r.session.envs)}
	return env, nil
}
