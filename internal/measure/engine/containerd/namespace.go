package containerd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// Namespace is the namespace of containerd's that everything of a run is in. It
// is the run's own: a user may have one of any other name. Without a run, which
// only looks, it is one that need not be there.
func Namespace(runID string) string {
	if runID == "" {
		return engine.Namespace
	}
	return engine.Namespace + "-" + runID
}

// pullNamespace is for pulled images: with those that are run they would share
// layers, and a cold pull would find them there.
func pullNamespace(runID string) string { return Namespace(runID) + "-pull" }

func (d *daemon) space(name string) *containerdclient.Space {
	return &containerdclient.Space{Client: d.Client, Socket: d.socket, Name: name, RunID: d.runID, Container: d.removeOurs, Dirs: []string{d.state}}
}

// removeOurs removes what is in a namespace of the run's. A control group is
// removed by name where the ledger has that.
func (d *daemon) removeOurs(ctx context.Context, id string) error {
	if slices.ContainsFunc(d.ledger.Left(), func(t engine.Thing) bool { return t.Name == id }) {
		return d.remove(ctx, id)
	}
	return d.removeContainer(ctx, id)
}

// makeNamespace makes a namespace of the run's, where it has not got it yet; the
// ledger has it first. What a private daemon holds goes with it, and is in no
// ledger.
func (d *daemon) makeNamespace(ctx context.Context, l engine.Ledger, name string) error {
	if d.own == nil {
		if err := l.Made(d.thing(engine.KindNamespace, name)); err != nil {
			return err
		}
	}
	err := d.space(name).Make(ctx)
	switch {
	case errors.Is(err, containerdclient.ErrForeign):
		return errors.Join(&engine.Error{Class: record.Unavailable,
			Text: fmt.Sprintf("containerd at %s has a namespace %s already", d.socket, name), Err: err}, d.struck(l, name))
	case err != nil:
		return d.wrong("making the namespace "+name, err)
	}
	return nil
}

func (d *daemon) struck(l engine.Ledger, name string) error {
	if d.own != nil {
		return nil
	}
	return l.Gone(d.thing(engine.KindNamespace, name))
}

// hasNamespace says whether a namespace is there and is the run's.
func (d *daemon) hasNamespace(ctx context.Context, name string) (bool, error) {
	there, err := d.space(name).There(ctx)
	if err != nil {
		return false, d.wrong("looking for the namespace "+name, err)
	}
	return there, nil
}

// removeNamespace removes a namespace of the run's with everything in it, and
// strikes it out.
func (d *daemon) removeNamespace(ctx context.Context, l engine.Ledger, name string) error {
	if err := d.space(name).Remove(ctx); err != nil {
		return d.wrong("removing the namespace "+name, err)
	}
	return d.struck(l, name)
}

// Begin makes the run's namespace at a socket, for those who use it by hand, and
// End takes it away with all that is in it.
func Begin(ctx context.Context, kit *engine.Kit, socket string) error {
	return askAt(ctx, kit, socket, func(d *daemon) error { return d.makeNamespace(ctx, kit.Ledger, d.namespace) })
}

// End is documented with Begin.
func End(ctx context.Context, kit *engine.Kit, socket string) error {
	return askAt(ctx, kit, socket, func(d *daemon) error { return d.removeNamespace(ctx, kit.Ledger, d.namespace) })
}
