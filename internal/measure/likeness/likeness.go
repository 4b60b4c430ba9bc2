// Package likeness says whether a run goes on with what it was begun on: the same
// machine, engines, images and program. Times from before and after anything else can't be
// taken together.
//
// It is opinionated: what only one side says is no difference, so that a record of an
// earlier version can be gone on with.
//
// Why it is so: docs/decisions/running.md.
package likeness

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/record"
)

// Error is a run that would be gone on with on another machine, kernel or engine than
// it was begun on, or with other images. Nothing of its record was changed.
type Error struct {
	RunID   string
	Differs []record.Difference
}

func (e *Error) Error() string {
	var list []string
	for _, d := range e.Differs {
		list = append(list, d.String())
	}
	return fmt.Sprintf("run %s can't be resumed here: this is not what it was measured on (%s)", e.RunID, strings.Join(list, "; "))
}

// Judge gives an *Error where something differs that times depend on, unless that is
// wanted.
func Judge(runID string, differs []record.Difference, wanted bool) error {
	unlike := slices.DeleteFunc(slices.Clone(differs), func(d record.Difference) bool { return !d.Unlike })
	if len(unlike) == 0 || wanted {
		return nil
	}
	return &Error{RunID: runID, Differs: unlike}
}

// Keep writes into a run that is gone on with what its earlier part was measured with,
// as far as it differs. was is the record as it stands, at the moment of going on. What
// is found out later of the same moment is added.
func Keep(run, was *record.Run, differs []record.Difference, at time.Time) {
	if len(differs) == 0 {
		return
	}
	if n := len(run.Earlier); n == 0 || !run.Earlier[n-1].Until.Equal(at) {
		run.Earlier = append(run.Earlier, record.Earlier{Until: at, Host: was.Host, Tool: was.Tool})
	}
	e := &run.Earlier[len(run.Earlier)-1]
	e.Differs = append(e.Differs, differs...)
	for _, env := range was.Environments {
		if slices.ContainsFunc(differs, func(d record.Difference) bool { return d.Env == env.ID }) {
			if e.Facts == nil {
				e.Facts = map[string]map[string]string{}
			}
			e.Facts[env.ID] = env.Facts
		}
	}
}
