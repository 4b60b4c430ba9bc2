package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// hostLacks leaves the workloads out whose programs and files the host does not
// have: the baseline host runs the host's own.
func (r *runner) hostLacks(ctx context.Context, sum *Summary) error {
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	for i, j := range jobs {
		env := &r.Plan.Environments[r.Plan.Cells[i].Env]
		if env.Baseline != "host" || j.Plan == nil {
			continue
		}
		w := r.Plan.Workloads[r.Plan.Cells[i].Workload]
		known, err := r.find(w.Name)
		if err != nil {
			return err
		}
		if lacks := r.missing(ctx, j.Plan, known.Image); lacks != "" {
			sum.Excluded = append(sum.Excluded, record.Excluded{
				ID: env.ID, Engine: env.Engine, Levels: env.Levels, Workload: w.ID, Kind: study.Unavailable,
				Reason: lacks + ", and the baseline host runs the host's own",
			})
		}
	}
	return nil
}

// missing says which program or file of a workload the host does not have.
func (r *runner) missing(ctx context.Context, p *workload.Plan, imageName string) string {
	for _, role := range p.Roles {
		for _, s := range role.Task.Steps {
			if len(s.Argv) == 0 {
				continue
			}
			if program := s.Argv[0]; program != probePath && !r.onPath(program) {
				return "the host has no program " + program
			}
			for _, a := range s.Argv[1:] {
				if why := r.missingFile(ctx, a, imageName); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

func (r *runner) onPath(program string) bool {
	if filepath.IsAbs(program) {
		_, err := os.Stat(program)
		return err == nil
	}
	_, err := r.LookPath(program)
	return err == nil
}

// missingFile says why an argument that is a path means nothing on the host. A
// file that neither has is one that the workload makes, or no path at all.
func (r *runner) missingFile(ctx context.Context, arg, imageName string) string {
	switch {
	case !filepath.IsAbs(arg):
		return ""
	case arg == workload.WorkDir, strings.HasPrefix(arg, workload.WorkDir+"/"):
		// A task on the host works in a directory of ours, and not in that.
		return fmt.Sprintf("the workload names %s, a path of the image", arg)
	}
	if _, err := os.Stat(arg); err == nil {
		return ""
	}
	dir, err := r.kit.Images.Path(ctx, imageName, image.Directory)
	if err != nil {
		return "" // its trial will tell
	}
	if _, err := os.Lstat(filepath.Join(dir, arg)); err == nil {
		return "the host has no file " + arg + " of the image"
	}
	return ""
}
