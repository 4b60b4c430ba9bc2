package portable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// half is the fact of a record's machine that says which half measured.
const half = record.MoreHalf

// Measured says whether the run of a record was measured by this half.
func Measured(run *record.Run) bool { return run.Host.More[half] != "" }

// begin takes the ledger, before anything is made. Of a resumed run it takes the record
// first, so that nobody else goes on with it, and removes what its earlier part left:
// the trial in flight is done again, under the same name.
func (r *run) begin(ctx context.Context) (err error) {
	if !r.Resume {
		r.ledger, err = NewLedger(r.Ledgers, r.Run.ID)
		return err
	}
	if r.writer, r.was, err = record.Resume(r.Dir, r.Trusted...); err != nil {
		return err
	}
	if !record.IsRunID(r.was.ID) || r.was.ID != r.Run.ID {
		err = fmt.Errorf("the run in %s has the id %q: expected eight of a-z and 0-9, as a moment ago", r.Dir, r.was.ID)
	} else {
		r.ledger, err = ResumeLedger(r.Ledgers, r.Run.ID)
	}
	if err != nil {
		return errors.Join(err, r.writer.Close())
	}
	for _, c := range r.Look.Around.takeAway(ctx, r.Run.ID, r.ledger.Left(), r.ledger.by) {
		if c.Kept != "" {
			r.Say(fmt.Sprintf("the %s %s of the earlier part is still there: %s", c.Thing.Kind, c.Thing.Name, c.Kept))
			continue
		}
		if err := r.ledger.Gone(c.Thing); err != nil {
			return errors.Join(err, r.writer.Close(), r.ledger.Close())
		}
	}
	return nil
}

// measured says whether there are trials already.
func (r *run) measured() bool { return r.Resume && len(r.writer.Complete()) > 0 }

// openRecord begins the record. Of a resumed run it is held against what is here now,
// before anything of it is changed.
func (r *run) openRecord() (err error) {
	now := time.Now()
	r.Run.Status, r.Run.Finished, r.Run.Host = "running", time.Time{}, r.host()
	r.Run.Tool.Probe = probe.Digest()
	for _, im := range r.Look.Images.held {
		r.Run.PutImage(im)
	}
	for i := range r.Run.Workloads {
		w := &r.Run.Workloads[i]
		for _, m := range beside { // a resumed run's record has them
			if !slices.ContainsFunc(w.Metrics, func(x record.Metric) bool { return x.ID == m.ID }) {
				w.Metrics = append(slices.Clip(w.Metrics), m)
			}
		}
	}
	if !r.Resume {
		r.Run.Started = now
		r.writer, err = record.Create(r.Dir, r.Run)
		return err
	}
	if r.measured() {
		differs := r.differs()
		if err := likeness.Judge(r.was.ID, differs, r.Unlike); err != nil {
			return err
		}
		likeness.Keep(r.Run, r.was, differs, now)
	}
	r.Run.Resumed = append(r.Run.Resumed, now)
	return r.writer.Update(r.Run)
}

// byInterface are the facts, besides versions, by which a daemon is known again: where
// it is, and what it says of its machine. How much memory it has is not among them, since a kernel keeps a little more or less for itself each time.
var byInterface = []string{"host", machineFact, "daemon-cpus", "kernel", "default-runtime", "cgroup", "cgroup-driver", "rootless"}

// differs is what is not as it was when the run was last measured. The steps of the
// clock are left out: they are measured anew each time.
func (r *run) differs() []record.Difference {
	was := record.Host{Arch: r.was.Host.Arch} // what else is known of it stands in the engines' facts
	images, unknown := likeness.Images(r.was.Images, r.Run.Images, r.was.Tool.Probe == r.Run.Tool.Probe)
	if len(unknown) > 0 {
		r.Say(likeness.Unknown(unknown))
	}
	return slices.Concat(clients(r.was.Host, r.Run.Host), likeness.Machines(was, r.Run.Host), likeness.Tools(r.was.Tool, r.Run.Tool),
		likeness.Engines(r.was.Environments, r.Run.Environments, byInterface...), images)
}

// countEarlier counts what a resumed run has measured already.
func (r *run) countEarlier(sum *Summary) error {
	if !r.Resume {
		return nil
	}
	old, err := record.Open(r.Dir)
	if err != nil {
		return err
	}
	for t, err := range old.Trials() {
		if err != nil {
			return err
		}
		if sum.Trials++; !t.OK() {
			sum.Failed++
		}
	}
	return nil
}
