package podman

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

func (e *Engine) Detect(ctx context.Context, kit *engine.Kit) engine.Detection {
	var det engine.Detection
	fail := func(err error) engine.Detection {
		det.Reason, det.Fix = engine.Reason(err)
		return det
	}
	user, werr := who(kit, engine.DefaultLevel)
	if werr != nil {
		return fail(werr)
	}
	p, werr := find(kit, user)
	if werr != nil {
		return fail(werr)
	}
	det.Where = p.path
	// As an ordinary user `podman info` starts the pause process, and a
	// detection changes nothing; `podman version` starts nothing.
	out, err := p.output(ctx, "version", "--format", "{{.Client.Version}}")
	if err != nil {
		return fail(wrong("asking podman for its version", err))
	}
	det.Usable, det.Version = true, strings.TrimSpace(string(out))
	det.Facts = map[string]string{"version": det.Version, "cgroup": cgroup.Version()}
	if user == nil && kit.Built(Name) == "" { // a build keeps off the user's own store
		if i, err := p.info(ctx); err == nil {
			det.Facts = i.facts()
		}
	}
	det.Levels = engine.LevelsBy(e.Info().Levels, func(factor, level string) error {
		if err := possible(kit, factor, level); err != nil {
			return err
		}
		return nil
	})
	return det
}

// possible says whether a level can be had here, as far as that can be told
// without running podman.
func possible(kit *engine.Kit, factor, level string) *engine.Error {
	if level == engine.DefaultLevel {
		return nil
	}
	if known := New().Info().Levels; len(known[factor]) > 0 {
		if err := engine.Unknown("podman", known, factor, level); err != nil {
			return err
		}
	}
	need := func(name, pkg string) *engine.Error {
		if _, err := kit.LookPath(name); err != nil {
			return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("the program %s is not on the PATH", name), Fix: "apt-get install " + pkg}
		}
		return nil
	}
	switch factor {
	case engine.Without, engine.With:
		if slices.Contains(engine.Parts(factor, level), engine.Durability) && !kit.Root {
			return needsRoot()
		}
		if why := adapter.NotHere(factor, level); why != "" {
			return &engine.Error{Class: record.Unavailable, Text: why}
		}
		if slices.Contains(engine.Parts(factor, level), engine.Init) && initPath() == "" {
			return &engine.Error{Class: record.Unavailable, Text: "podman finds no init", Fix: "apt-get install catatonit"}
		}
	case engine.Runtime:
		return need(level, level)
	case engine.Storage:
		switch level {
		case fuseOverlay:
			return need(fuseOverlay, fuseOverlay)
		case btrfs:
			return private.CanMake(kit, btrfs)
		case zfs:
			if !private.KernelHas(zfs) {
				return &engine.Error{Class: record.Unavailable, Text: "the kernel has no zfs", Fix: engine.Modprobe("zfs")}
			}
			return &engine.Error{Class: record.Unavailable, Text: "podman's driver zfs needs a dataset, and Plimsoll makes no pools"}
		}
	case engine.Rootless:
		if _, err := who(kit, level); err != nil {
			return err
		}
		if level == "yes" {
			return need("newuidmap", "uidmap")
		}
	}
	return nil
}
