package run

import (
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/record"
	"plimsoll/internal/study"
	"plimsoll/internal/workload"
)

// hostLacks leaves the workloads out whose programs the host does not have: the
// baseline host runs the host's own.
func (r *runner) hostLacks(sum *Summary) error {
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	for i, j := range jobs {
		env := &r.Plan.Environments[r.Plan.Cells[i].Env]
		if env.Baseline != "host" || j.Plan == nil {
			continue
		}
		if program := r.missing(j.Plan); program != "" {
			sum.Excluded = append(sum.Excluded, record.Excluded{
				ID: env.ID, Engine: env.Engine, Levels: env.Levels,
				Workload: r.Plan.Workloads[r.Plan.Cells[i].Workload].ID, Kind: study.Unavailable,
				Reason: fmt.Sprintf("the host has no program %s, and the baseline host runs the host's own", program),
			})
		}
	}
	return nil
}

// missing is the first program of a workload that is not on the host.
func (r *runner) missing(p *workload.Plan) string {
	for _, role := range p.Roles {
		for _, s := range role.Task.Steps {
			switch {
			case len(s.Argv) == 0 || s.Argv[0] == probePath:
			case filepath.IsAbs(s.Argv[0]):
				if _, err := os.Stat(s.Argv[0]); err != nil {
					return s.Argv[0]
				}
			default:
				if _, err := r.LookPath(s.Argv[0]); err != nil {
					return s.Argv[0]
				}
			}
		}
	}
	return ""
}
