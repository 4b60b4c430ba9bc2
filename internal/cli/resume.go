package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// oldPlan makes the plan of a run that was cut off again.
func oldPlan(dir string) (*record.Run, *study.Plan, error) {
	r, err := openRun(dir)
	if err != nil {
		return nil, nil, err
	}
	old := r.Run()
	p, err := study.FromRun(old)
	if err != nil {
		return nil, nil, fail(Failed, "%w", err)
	}
	for t, err := range r.Trials() {
		if err != nil {
			return nil, nil, fail(Failed, "%w", err)
		}
		if err := p.Check(t); err != nil {
			return nil, nil, fail(Failed, "%w", err)
		}
	}
	return old, p, nil
}

// ownWorkloads are the workloads of the user's files in a plan: they are in it
// as text, so that a run goes on with what it began with.
func ownWorkloads(p *study.Plan) ([]workload.Workload, error) {
	var out []workload.Workload
	seen := map[string]bool{}
	for _, w := range p.Workloads {
		if w.Source == "" || seen[w.Name] {
			continue
		}
		seen[w.Name] = true
		x, err := workload.Of(w)
		if err != nil {
			return nil, fail(Failed, "%w", err)
		}
		out = append(out, x)
	}
	return out, nil
}

// keeps refuses what would change the study of a run that is resumed: arguments, and
// flags of these names.
func keeps(fl *pflag.FlagSet, args, names []string) error {
	var no []string
	if len(args) > 0 {
		no = append(no, "study or command ("+args[0]+")")
	}
	fl.Visit(func(f *pflag.Flag) {
		if slices.Contains(names, f.Name) {
			no = append(no, "--"+f.Name)
		}
	})
	if len(no) == 0 {
		return nil
	}
	return withHint(fail(Usage, "--resume continues the study of the record, so it takes no %s", strings.Join(no, " and no ")), "leave it out, or start a new run")
}

// unlikeHint is what helps where a run is not what it began on.
const unlikeHint = "resume it where it began, with the Plimsoll and the images of then, or start a new run; --unlike resumes it here anyway, and the record keeps both"
