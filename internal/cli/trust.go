package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// trustRecord lets a record be gone on with. What it says is done: its
// workloads' commands are run, in the host's own root as in containers. So one
// that somebody else has written is taken only where the user says so; that
// user's number is given then, for whom the record's directory is no other's.
func trustRecord(w World, dir string, own []workload.Workload, trust bool) (trusted []int, err error) {
	says := "it has no commands of its own"
	if len(own) > 0 {
		all := lists.Map(own, func(x workload.Workload) string { return x.Name })
		says = "it has the commands of its own workloads: " + strings.Join(all, ", ")
	}
	return trustFiles(w, "record", says, trust, dir, filepath.Join(dir, record.RunFile))
}

// trustFiles lets be gone on with what some files say, as trustRecord does: what names
// it, says is what would be done, and the last file is where it stands.
func trustFiles(w World, what, says string, trust bool, files ...string) (trusted []int, err error) {
	where, name, uid, err := safepath.Caller(w.Getenv).Foreign(files...)
	if err != nil {
		return nil, fail(Failed, "finding out who owns the %s: %w", what, err)
	}
	if where == "" {
		return nil, nil
	}
	if !trust {
		return nil, withHint(fail(Usage, "%s belongs to %s, and resuming the %s executes what it says; %s", where, name, what, says),
			"look into %s; --trust-record resumes it anyway", files[len(files)-1])
	}
	fmt.Fprintln(w.Stderr, statusPrefix+harmless.Text("the "+what+" is of "+name+": "+says))
	return []int{uid}, nil
}
