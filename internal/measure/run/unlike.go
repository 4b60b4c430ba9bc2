package run

import (
	"slices"

	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/record"
)

// likeness refuses to go on where something is unlike that times depend on,
// unless that is wanted; all that differs is kept in the record then, with the
// facts as they were. was is the record as it stands.
func (r *runner) likeness(was *record.Run, differs []record.Difference) error {
	if len(r.writer.Complete()) == 0 {
		return nil // nothing was measured by what is gone
	}
	if err := likeness.Judge(was.ID, differs, r.Unlike); err != nil {
		r.unchanged = true
		return err
	}
	likeness.Keep(r.rec, was, differs, r.begun)
	return nil
}

// earlierRemarks keeps what doctor said to earlier parts of a run and does not
// say now.
func earlierRemarks(was, now []record.Remark) []record.Remark {
	for _, m := range was {
		if !slices.ContainsFunc(now, func(n record.Remark) bool { return n.Code == m.Code }) {
			now = append(now, m)
		}
	}
	return now
}
