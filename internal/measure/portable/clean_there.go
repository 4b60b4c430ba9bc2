package portable

import (
	"context"

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
