package portable

import (
	"context"
	"errors"
	"fmt"
	"slices"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// daemonOf is by what a daemon of Docker's is known again; "" where it has no identifier.
func daemonOf(id string) string {
	if id == "" {
		return ""
	}
	return "the daemon " + id
}

// errAbsent: what a ledger names was not there.
var errAbsent = errors.New("it was not there")

// ErrElsewhere is that another daemon answers than the run had where it has left something:
// the address may lead to another machine by now.
var ErrElsewhere = errors.New("another server answers there than the run had")

// elsewhere is the error, with its fix, where another daemon answers than the ledger names
// for this address; nil where it is the same one, or the ledger names none.
func (a Address) elsewhere(answers string) error {
	if a.Server == "" || answers == "" || a.Server == answers {
		return nil
	}
	return fmt.Errorf("%w: %s answers at %s, and it had %s: let that address lead to the run's own daemon, and try again", ErrElsewhere, answers, a.Host, a.Server)
}

// absent is what it means that who answers has nothing of what a ledger names.
func (a Address) absent(answers, runID string) error {
	if err := a.elsewhere(answers); err != nil {
		return fmt.Errorf("%w; if this is that one, set up anew since, nothing is left to remove: delete the ledger %s", err, runID+ledgerSuffix)
	}
	return errAbsent
}

// elsewhere says that another daemon answers at an address than the one on which the ledger
// still names something: its place is not overwritten, so that this one's word, that it has
// nothing, strikes nothing out.
func (r *run) elsewhere(host, answers string) error {
	err := r.ledger.by[host].Address.elsewhere(answers)
	if err == nil || !slices.ContainsFunc(r.ledger.Left(), func(t engine.Thing) bool { return t.At == host }) {
		return nil
	}
	return fmt.Errorf("what the run has left there is still in its ledger: %w; if this is that one, changed by now, plimsoll clean --portable says what there is to do", err)
}

// has says whether a daemon has what a ledger names, as the run's own.
func (d *Daemon) has(ctx context.Context, t engine.Thing) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	var labels map[string]string
	var err error
	if t.Kind == engine.KindImage {
		have, ierr := d.ImageInspect(ctx, t.Name)
		if err = ierr; err == nil && have.Config != nil {
			labels = have.Config.Labels
		}
	} else {
		have, cerr := d.ContainerInspect(ctx, t.Name, client.ContainerInspectOptions{})
		if err = cerr; err == nil && have.Container.Config != nil {
			labels = have.Container.Config.Labels
		}
	}
	switch {
	case cerrdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, d.wrong("looking for the "+t.Kind+" "+t.Name, err)
	}
	return d.RunID != "" && labels[engine.Label] == d.RunID, nil
}

// absent is what it means that the daemon has not what a ledger names.
func (d *Daemon) absent(ctx context.Context) error {
	if d.At.Server == "" {
		return errAbsent
	}
	ctx, cancel := context.WithTimeout(ctx, engine.DetectLimit)
	defer cancel()
	info, err := d.Info(ctx, client.InfoOptions{})
	if err != nil {
		return d.wrong("asking the daemon which it is", err)
	}
	return d.At.absent(daemonOf(info.Info.ID), d.RunID)
}

// removeByCommand removes a thing that a command has made, by one.
func (s Surroundings) removeByCommand(ctx context.Context, t engine.Thing, a Address, runID string) error {
	p, err := s.command(a, runID)
	if err != nil {
		return err
	}
	kind, label, remove := "container", labelOfContainer, p.removeContainer
	if t.Kind == engine.KindImage {
		kind, label, remove = "image", labelOfImage, p.removeImage
	}
	switch owner, err := p.ask(ctx, kind, "inspect", "--format", label, t.Name); {
	case err != nil && !absent(err):
		return err
	case err == nil && owner == runID:
		return remove(ctx, t.Name)
	case a.Server == "":
		return errAbsent
	}
	id, err := p.ask(ctx, "info", "--format", "{{.ID}}")
	if err != nil {
		return err
	}
	return a.absent(daemonOf(id), runID)
}
