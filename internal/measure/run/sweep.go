package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/probe"
)

// Sweep removes whatever is left of what the kit's ledger names: what engines
// hold is asked of them, each at the place where it was made; the rest is
// removed by hand. What was removed and what could not be are told; the error
// is for what is in no ledger (the run's own processes and mounts, its
// daemons). One engine that fails does not stop the others.
func Sweep(ctx context.Context, kit *engine.Kit, engines []engine.Engine) (removed []string, kept []engine.Kept, err error) {
	removed, kept, _, err = sweep(ctx, host.Machine{}, kit, engines)
	return removed, kept, err
}

func sweep(ctx context.Context, m host.Machine, kit *engine.Kit, engines []engine.Engine) (removed []string, kept []engine.Kept, now *host.Census, err error) {
	// Before engines strike out what they know nothing of any more: a control
	// group or a mount may be left of it.
	marks := marksOf(kit, engines)
	for _, t := range kit.Ledger.Left() {
		if t.Engine != "" && !slices.ContainsFunc(engines, func(e engine.Engine) bool { return e.Info().Name == t.Engine }) {
			kept = append(kept, engine.Kept{Thing: t, Why: fmt.Sprintf("this plimsoll has no engine %s", t.Engine)})
		}
	}
	for _, e := range engines {
		gone, left := engine.Sweep(ctx, kit, e)
		for _, t := range gone {
			removed = append(removed, t.String())
		}
		kept = append(kept, left...)
	}
	byHand, left, now, err := removeByHand(ctx, m, kit, marks)
	return append(removed, byHand...), append(kept, left...), now, err
}

// SweepAll is Sweep for whoever wants one error of all that stays.
func SweepAll(ctx context.Context, kit *engine.Kit, engines []engine.Engine) ([]string, error) {
	removed, _, err := sweepAll(ctx, host.Machine{}, kit, engines)
	return removed, err
}

// sweepAll also gives how the machine was found.
func sweepAll(ctx context.Context, m host.Machine, kit *engine.Kit, engines []engine.Engine) (removed []string, now *host.Census, err error) {
	removed, kept, now, err := sweep(ctx, m, kit, engines)
	return removed, now, errors.Join(err, engine.KeptErrors(kept))
}

// audit looks at the machine as the user would: what is new since before, of
// ours and of others. now is the census of a sweep that removed nothing, so that none has
// to be taken where there is nothing of ours; nil: take one.
func audit(ctx context.Context, m host.Machine, before, now *host.Census, kit *engine.Kit, engines []engine.Engine) (residue, others []string, err error) {
	marks := marksOf(kit, engines)
	// Daemons and the kernel take things away behind the scenes: give them a
	// moment before anything is called left behind.
	var found host.Residue
	for wait := 10 * time.Millisecond; ; wait *= 2 {
		if now == nil {
			if now, err = m.Census(ctx); err != nil {
				return nil, nil, err
			}
		}
		all := now.Since(before)
		now = nil
		all.Ours(marks)
		found, others = nil, nil
		for _, it := range all {
			if it.Certain {
				found = append(found, it)
			} else {
				others = append(others, it.String())
			}
		}
		if len(found) == 0 || wait > time.Second || ctx.Err() != nil {
			break
		}
		time.Sleep(wait)
	}
	for _, it := range found {
		residue = append(residue, it.String())
	}
	return residue, others, nil
}

// Helpers are the beginnings of the names of what runs beside containers of these
// engines. The launcher and the payload are one program, which is ours.
func Helpers(engines []engine.Engine) []string {
	return append([]string{probe.FileName}, engine.AllProcesses(engines).Helpers...)
}

// marksOf are what a run is known by: its folder, what its ledger names, and how
// the processes are called that engines put beside containers.
func marksOf(kit *engine.Kit, engines []engine.Engine) host.Marks {
	m := host.Marks{RunID: kit.RunID, Dir: kit.Dir, Mark: kit.Mark, Helpers: Helpers(engines)}
	for _, t := range kit.Ledger.Left() {
		for _, e := range engines {
			if p, ok := e.(engine.Placer); ok && e.Info().Name == t.Engine {
				m.Paths = append(m.Paths, p.Places(t)...)
			}
		}
		switch t.Kind {
		case engine.KindContainer:
			m.Names = append(m.Names, t.Name)
			if t.Engine == "" { // a private daemon's: its runtime is killed with it, and leaves the group
				groups, _ := cgroup.Places(t.Name) // without hierarchies there are none
				m.Paths = append(m.Paths, groups...)
			}
		case engine.KindMount, engine.KindCgroup, engine.KindNetNS, engine.KindLink:
			m.Paths = append(m.Paths, t.Name)
		}
	}
	return m
}
