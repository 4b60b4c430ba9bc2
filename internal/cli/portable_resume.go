package cli

import (
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/record"
)

// ofPortable says whether a directory holds a run that was measured by the engines'
// interfaces: it is gone on with in the same way. What can't be read is told by who
// reads it.
func ofPortable(dir string) bool {
	r, err := record.Open(dir)
	return err == nil && portable.Measured(r.Run())
}

// again goes on with the run in a directory: by its record's plan, under its id.
func (a *portableAsked) again(w World, o *portable.Options) (err error) {
	old, err := openRun(a.resume)
	if err != nil {
		return err
	}
	if !portable.Measured(old.Run()) {
		return withHint(fail(Usage, "%s was measured with the help of the engines' own kernel, and --portable would go on by another clock", a.resume), "on its machine: plimsoll run --resume %s", shortPath(a.resume))
	}
	if o.Run, o.Plan, err = oldPlan(a.resume); err != nil {
		return err
	}
	own, err := ownWorkloads(o.Plan)
	if err != nil {
		return err
	}
	if o.Trusted, err = trustRecord(w, a.resume, own, a.trust); err != nil {
		return err
	}
	if reason, fix := o.Look.Lacks(o.Plan); reason != "" {
		return withHint(fail(Usage, "%s", reason), "%s", fix)
	}
	o.Run.Tool = tool()
	o.Dir, o.Resume = a.resume, true
	return nil
}
