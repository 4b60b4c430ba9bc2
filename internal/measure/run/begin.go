package run

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/imagestore"
	"plimsoll/internal/measure/likeness"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// begin opens the record, claims the run's folder and builds the kit.
func (r *runner) begin() (err error) {
	r.rec.Status = "running"
	if r.Resume {
		// The plan was rebuilt from this very record by our caller.
		if r.writer, r.was, err = record.Resume(r.Dir, r.Trusted...); err != nil {
			return err
		}
		r.rec.ID, r.rec.Started, r.rec.Earlier = r.was.ID, r.was.Started, r.was.Earlier
		r.rec.Finished = time.Time{}
		r.begun = time.Now()
		r.rec.Resumed = append(r.rec.Resumed, r.begun)
		r.rec.Tool.Probe = probe.Digest()
		if err := r.likeness(r.was, append(likeness.Machines(r.was.Host, r.rec.Host), likeness.Tools(r.was.Tool, r.rec.Tool)...)); err != nil {
			return errors.Join(err, r.writer.Close())
		}
		r.rec.Host.Remarks = earlierRemarks(r.was.Host.Remarks, r.rec.Host.Remarks)
	} else {
		if r.rec.ID == "" {
			r.rec.ID = record.NewRunID()
		}
		r.begun = time.Now()
		r.rec.Started = r.begun
		r.Plan.Record(r.rec)
		if r.writer, err = record.Create(r.Dir, r.rec); err != nil {
			return err
		}
	}
	dir, err := r.State.Claim(r.rec.ID, r.Dir, r.User)
	if err != nil {
		return errors.Join(err, r.writer.Close())
	}
	if r.kit, r.ledger, err = NewKit(r.rec.ID, dir, r.Options); err != nil {
		return errors.Join(err, r.writer.Close())
	}
	r.kit.LeftOn = func(what string) { r.progress.Remark(leftOn(what)) }
	r.rec.Tool.Probe = probe.Digest()
	r.insider, err = newInsider(r.rec.ID)
	if err == nil {
		r.disturb, err = host.Machine{}.NewSampler()
	}
	if err == nil {
		r.calm, err = host.Machine{}.NewQuiet()
	}
	if err == nil && r.Trace != nil {
		r.tracing, err = startTracing(&r.Options)
	}
	return err
}

// NewKit builds what adapters get from outside, with the run's folder as
// their own.
func NewKit(id, dir string, o Options) (*engine.Kit, *Ledger, error) {
	path, err := probe.Extract(dir)
	if err != nil {
		return nil, nil, err
	}
	ledger, err := OpenLedger(filepath.Join(dir, ledgerFile))
	if err != nil {
		return nil, nil, err
	}
	mark, err := engine.Mark(dir, id)
	if err != nil {
		return nil, nil, errors.Join(err, ledger.Close())
	}
	options := imagestore.Options{RunID: id, LookPath: o.LookPath, Mirror: o.Mirror, From: o.From}
	store := imagestore.NewStore(o.State.Images(), probe.Binary(), options)
	elsewhere, err := stores(o, options)
	if err != nil {
		return nil, nil, err
	}
	return &engine.Kit{
		RunID: id, Dir: dir, Mark: mark, ProbePath: path, Images: store, Elsewhere: elsewhere,
		LookPath: o.LookPath, Getenv: o.Getenv,
		User: o.User, NoUser: o.NoUser, Root: o.Root, Ledger: ledger, Spans: o.Spans,
		Launcher: func(ctx context.Context, opts probe.Options) (*probe.Launcher, error) {
			return probe.Start(ctx, path, opts)
		},
	}, ledger, nil
}

// clearAway removes what the earlier part of a resumed run left: the trial in
// flight when it was killed is done again, under the same name.
func (r *runner) clearAway(ctx context.Context) error {
	if _, _, err := sweepAll(ctx, r.machine, r.kit, r.Engines); err != nil {
		return err // something may still be mounted below: nothing is deleted there
	}
	runs, err := r.State.runs(false)
	if err != nil {
		return err
	}
	defer runs.Close()
	dir, err := runs.Sub(r.rec.ID)
	if err != nil {
		return err
	}
	defer dir.Close()
	return clearDirs(dir)
}

// clearDirs removes the directories in a run's folder, as far as they lie on its own
// mount. The files are ours: owner, ledger, probe.
func clearDirs(dir *safepath.Dir) error {
	entries, err := dir.List()
	errs := []error{err}
	for _, e := range entries {
		if e.IsDir() {
			errs = append(errs, dir.RemoveAll(e.Name()))
		}
	}
	return errors.Join(errs...)
}
