package run

import (
	"fmt"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// refuse fails a trial for what can't change within the run: it is not tried
// again.
func (s *site) refuse(t *record.Trial, text string) {
	t.Failure = &record.Failure{Class: record.Unsupported, Text: text}
	s.settled = true
}

// refused looks whether the adapter refused a task before it had asked for
// anything: then it will again. What an engine refused itself, after a request,
// is tried anew each time.
func (s *site) refused(res engine.Result) {
	if f := res.Failure; f != nil && f.Class == record.Unsupported && res.Events[record.Request] == 0 {
		s.settled = true
	}
}

// unbegun is the record of a trial that was refused before.
func unbegun(p study.Trial, f *record.Failure) *record.Trial {
	return undone(p, &record.Failure{Class: f.Class, Text: f.Text, Untried: true})
}

// Without says how many trials have no result, and how many of them because
// the engine can't do what was asked for; "" where all have one.
func (s *Summary) Without() string {
	switch {
	case s.Unsupported == 0 && s.Failed == 0:
		return ""
	case s.Unsupported == 0:
		return fmt.Sprintf("%d of %d trials failed", s.Failed, s.Trials)
	case s.Failed == 0:
		return fmt.Sprintf("%d of %d trials are unsupported", s.Unsupported, s.Trials)
	}
	return fmt.Sprintf("of %d trials %d are unsupported and %d failed", s.Trials, s.Unsupported, s.Failed)
}

// Left says whether something of the run could not be removed.
func (s *Summary) Left() bool { return s != nil && (s.Unclean != nil || len(s.Residue) > 0) }

// countEarlier adds the trials that have failed in the earlier parts of a run.
func (s *Summary) countEarlier(dir string) error {
	r, err := record.Open(dir)
	if err != nil {
		return err
	}
	for t, err := range r.Trials() {
		if err != nil {
			return err
		}
		s.count(t)
	}
	return nil
}

// count adds a trial that has failed.
func (s *Summary) count(t *record.Trial) {
	switch {
	case t.OK():
	case t.Failure.Class == record.Unsupported:
		s.Unsupported++
	default:
		s.Failed++
	}
}
