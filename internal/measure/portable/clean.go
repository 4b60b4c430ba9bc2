package portable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/measure/engine"
)

// Cleaned is one thing that a dead run had left. Kept says why it is still there, "" where it
// is gone. Absent says that it was not there: nothing was removed.
type Cleaned struct {
	Thing engine.Thing `json:"thing"`
	Run   string       `json:"run"`
	Kept  string       `json:"kept,omitempty"`

	Absent bool `json:"absent,omitempty"`
}

// Clean removes what runs have left whose process is gone: what their ledgers name and
// the label proves, at the place that the ledger tells.
func (s Surroundings) Clean(ctx context.Context, ledgers string) ([]Cleaned, error) {
	paths, err := filepath.Glob(filepath.Join(ledgers, "*"+ledgerSuffix))
	if err != nil {
		return nil, err
	}
	if len(paths) > 0 {
		if err := aloneIn(ledgers); err != nil {
			return nil, err
		}
	}
	var all []Cleaned
	var errs []error
	for _, path := range paths {
		done, err := s.cleanOne(ctx, path)
		all, errs = append(all, done...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// lateLimit is how long an engine is given to have made what a dead run asked for.
const lateLimit = 2 * time.Second

func (s Surroundings) cleanOne(ctx context.Context, path string) ([]Cleaned, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // its run has ended meanwhile
	case err != nil:
		return nil, err
	}
	if err := alone(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := filelock.TryLock(f); err != nil {
		_ = f.Close() // only looked at
		if errors.Is(err, filelock.ErrLocked) {
			return nil, nil // the run lives
		}
		return nil, err
	}
	if !isAt(f, path) {
		return nil, f.Close() // its run has ended meanwhile, and may have been resumed
	}
	runID, left, by := readLedger(f)
	all := s.takeAway(ctx, runID, left, by)
	kept := slices.ContainsFunc(all, func(c Cleaned) bool { return c.Kept != "" })
	if kept {
		err = strikeOut(f, all)
	}
	return all, errors.Join(err, endLedger(f, path, !kept))
}

// takeAway removes what the ledger of a dead run names.
func (s Surroundings) takeAway(ctx context.Context, runID string, left []engine.Thing, by map[string]reach) (all []Cleaned) {
	late := slices.ContainsFunc(left, func(t engine.Thing) bool { return t.Kind == engine.KindContainer })
	gone := map[engine.Thing]bool{}
	for _, t := range left {
		if t.Kind == engine.KindContainer {
			gone[t] = s.remove(ctx, t, by[t.At], runID) == nil // what fails is told below
		}
	}
	if late { // an engine that was asked makes it, though nobody waits for it any more
		select {
		case <-time.After(lateLimit):
		case <-ctx.Done():
		}
	}
	for _, t := range slices.Backward(left) { // an image goes after the containers that are made of it
		c := Cleaned{Thing: t, Run: runID}
		c.became(s.remove(ctx, t, by[t.At], runID), gone[t])
		all = append(all, c)
	}
	return all
}

// became notes what came of a removal; gone says that a first one has just succeeded.
func (c *Cleaned) became(err error, gone bool) {
	switch {
	case gone && (errors.Is(err, errAbsent) || errors.Is(err, ErrElsewhere)): // it was there until then
	case errors.Is(err, errAbsent):
		c.Absent = true
	case err != nil:
		c.Kept = err.Error()
	}
}

// remove removes one thing of an engine's, as far as it is that run's.
func (s Surroundings) remove(ctx context.Context, t engine.Thing, r reach, runID string) error {
	switch {
	case !slices.Contains(Engines, t.Engine): // of a run by an earlier version: a pod, a tag
		return fmt.Errorf("this version does not remove it: remove it with the tools of %s, and delete the ledger %s", t.Engine, runID+ledgerSuffix)
	case r.Address.Engine == "":
		return fmt.Errorf("the ledger does not say how %s is reached", t.Engine)
	}
	if r.Program {
		return s.removeByCommand(ctx, t, r.Address, runID)
	}
	d, err := r.Address.Connect(runID)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Greet(ctx); err != nil {
		return err
	}
	switch there, err := d.has(ctx, t); {
	case err != nil:
		return err
	case !there:
		return d.absent(ctx)
	case t.Kind == engine.KindImage:
		return d.removeImage(ctx, t.Name)
	}
	return d.removeContainer(ctx, t.Name)
}
