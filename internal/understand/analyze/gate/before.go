package gate

import (
	"fmt"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// CanGate says, before anything is measured, whether a run can be gated by
// base: next needs what is known by then, the host, the protocol, the
// environments and the workloads. The error, a RefusedError, says why not.
func CanGate(base *analyze.Result, next *record.Run, t Thresholds) error {
	if base.Run.Blocks == 0 {
		return &RefusedError{fmt.Sprintf("the gate is refused: BASE (run %s) has no counted trial that succeeded", base.Run.ID), "look at it with plimsoll report"}
	}
	if base.Run.Status != "done" || compare.Truncated(base) != "" {
		return &RefusedError{fmt.Sprintf("the gate is refused: BASE (run %s) is incomplete, so nothing could pass against it", base.Run.ID), "continue BASE with plimsoll run --resume DIR, or measure it again"}
	}
	c, common, yardstick, err := compare.Before(base, next, t.Metrics())
	if err != nil {
		return err
	}
	switch {
	case !common:
		return &RefusedError{"the gate is refused: BASE and this study have no environment and workload in common", "plimsoll plan lists what would run; give the study that BASE was measured with"}
	case !yardstick && !t.Absolute:
		return &RefusedError{"the gate is refused: no baseline ran in BASE that will run now, so nothing cancels how fast the machine is today", "measure BASE with native or floor; the simulated engines have none: --gate-env compares two of one run"}
	}
	_, _, err = gated(c, t)
	return err
}
