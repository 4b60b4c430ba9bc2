//go:build linux

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// recordFollower tells the course of a run that another plimsoll writes, by its
// record: what a login node sees of a job.
type recordFollower struct {
	dir      string
	progress run.Progress

	run      *record.Run
	total    int
	follower *record.Follower
	last     run.Upcoming
	begun    time.Time // when the first trial of this job was seen
	before   int       // trials that were there then
	fresh    bool      // none was there when the following began
}

func newRecordFollower(dir string, p run.Progress) *recordFollower {
	return &recordFollower{dir: dir, progress: p, follower: record.Follow(dir)}
}

// tick tells what has come since. What can't be read now (a file system that
// is late, a record that is just being replaced) is read the next time; what
// is damaged is said when the record is read at the end.
func (f *recordFollower) tick() {
	if !f.opened() {
		return
	}
	if f.fresh && f.begun.IsZero() {
		f.begun = time.Now()
		f.progress.Planned(f.total, 0, f.last.AtMost)
	}
	came := false
	_, err := f.follower.Next(func(t *record.Trial) {
		came = true
		f.last.Done++
		f.last.Env, f.last.Workload = t.Env, t.Workload
		f.last.Block, f.last.Warmup = t.Block+1-f.run.Protocol.Warmup, t.Warmup
		if t.OK() {
			return
		}
		if t.Failure.Class == record.Unsupported {
			f.last.Unsupported++
		} else {
			f.last.Failed++
		}
		if !f.begun.IsZero() {
			f.progress.Failed(run.Failed{Seq: t.Seq, Env: t.Env, Workload: t.Workload, Class: t.Failure.Class, Text: t.Failure.Text, Untried: t.Failure.Untried})
		}
	})
	if errors.Is(err, record.ErrReplaced) {
		f.follower = record.Follow(f.dir)
		f.last.Done, f.last.Failed, f.last.Unsupported = 0, 0, 0
		return
	}
	if f.begun.IsZero() {
		f.begun, f.before = time.Now(), f.last.Done
		f.progress.Planned(f.total, f.before, f.last.AtMost)
	}
	if came && f.last.Done > f.before {
		f.last.Left = 0
		if n := f.last.Done - f.before; f.total > f.last.Done && n > 1 {
			f.last.Left = time.Since(f.begun) / time.Duration(n) * time.Duration(f.total-f.last.Done)
		}
		f.progress.Trial(f.last)
	}
}

// opened reads run.json, once it is there and the plan of it stands.
func (f *recordFollower) opened() bool {
	if f.run != nil {
		return true
	}
	if _, err := os.Stat(filepath.Join(f.dir, record.TrialsFile)); err != nil {
		return false
	}
	r, err := record.Open(f.dir)
	if err != nil {
		return false
	}
	p, err := study.FromRun(r.Run())
	if err != nil {
		return false
	}
	f.run, f.total = r.Run(), p.Trials()
	q := f.run.Protocol
	f.last.Total, f.last.Blocks = f.total, q.Blocks
	f.last.AtMost = q.Open()
	if q.TimeBudgetNS > 0 { // which ends it; the bound on blocks says nothing
		f.total, f.last.Total, f.last.Blocks = 0, 0, 0
	}
	return true
}

// recorded is how a record stands: its status ("" where there is none) and its
// trials.
func recorded(dir string) (status string, s run.Summary, err error) {
	s.Dir = dir
	if _, err := os.Stat(filepath.Join(dir, record.RunFile)); errors.Is(err, os.ErrNotExist) {
		return "", s, nil
	}
	r, err := record.Open(dir)
	if err != nil {
		return "", s, err
	}
	for t, err := range r.Trials() {
		if err != nil {
			return "", s, err
		}
		s.Trials++
		switch {
		case t.OK():
		case t.Failure.Class == record.Unsupported:
			s.Unsupported++
		default:
			s.Failed++
		}
	}
	s.Residue = r.Run().Residue
	return r.Run().Status, s, nil
}
