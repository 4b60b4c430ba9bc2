package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// thing is what the ledger says of something in this daemon.
func (d *daemon) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: d.flavour.name, At: d.host}
}

// enter tells the ledger of something that is about to be made in this daemon,
// and strike that it is gone. What a private daemon holds goes with it.
func (d *daemon) enter(l engine.Ledger, kind, name string) error {
	if d.own != nil {
		return nil
	}
	return l.Made(d.thing(kind, name))
}

func (d *daemon) strike(l engine.Ledger, kind, name string) error {
	if d.own != nil {
		return nil
	}
	return l.Gone(d.thing(kind, name))
}

func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	asks, by := lateMost, time.Now().Add(imageLimit)
	return engine.LookFor(things, func(t engine.Thing) (bool, error) { return e.look(ctx, kit, t, &asks, by) },
		func(ctx context.Context, t engine.Thing) error { return e.takeAway(ctx, kit, t) }), nil
}

// look says whether a thing of the ledger's is still there, or on its way: asks is of how
// many more containers the latter may be asked, by is until when images may come.
func (e *Engine) look(ctx context.Context, kit *engine.Kit, t engine.Thing, asks *int, by time.Time) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	defer func() {
		if errors.Is(err, context.DeadlineExceeded) {
			err = &engine.Error{Class: record.TimeOut, Err: err, Fix: e.restarts(t.At),
				Text: fmt.Sprintf("the %s daemon at %s hangs", e.name, t.At)}
		}
	}()
	d, err := e.connect(kit, t.At)
	if err != nil {
		return false, err
	}
	defer d.Close()
	switch t.Kind {
	case engine.KindContainer:
		if there, err := d.stands(ctx, t.Name); err != nil || there || *asks == 0 {
			return there, err
		}
		// The run may have been killed a moment ago, and the daemon still be at work.
		*asks--
		is, err := d.nameIs(ctx, t.Name, e.imageFor(kit, t))
		return is == taken, err // takeAway waits for it
	case engine.KindImage:
		return d.comes(ctx, t.Name, by)
	}
	return false, &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("the ledger has a %s of %s's, which is none of its kinds", t.Kind, e.name)}
}

// stands says whether a container of the run's is there, or a volume of it.
func (d *daemon) stands(ctx context.Context, name string) (bool, error) {
	id, err := d.ours(ctx, name)
	if err != nil || id != "" {
		return err == nil, err
	}
	volumes, err := d.volumesOf(ctx, name)
	return len(volumes) > 0, err
}

// imageFor is an image of the run's in the daemon that a container is in; "" where the
// ledger names none.
func (e *Engine) imageFor(kit *engine.Kit, c engine.Thing) string {
	for _, t := range engine.OfKind(kit.Ledger.Left(), engine.KindImage) {
		if t.Engine == c.Engine && t.At == c.At {
			return t.Name
		}
	}
	return ""
}

// has says whether the daemon has an image under exactly this tag.
func (d *daemon) has(ctx context.Context, tag string) (bool, error) {
	_, err := d.ImageInspect(ctx, tag)
	switch {
	case cerrdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, d.wrong("looking for the image "+tag, err)
	}
	return true, nil
}

// takeAway opens a connection of its own, since the one that found the thing is
// closed by then. A container's label is looked at again; an image bears the
// run's id in its tag, and the ledger has that whole.
func (e *Engine) takeAway(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	d, err := e.connect(kit, t.At)
	if err != nil {
		return err
	}
	defer d.Close()
	if t.Kind == engine.KindImage {
		return removeImage(ctx, d, t.Name)
	}
	return d.removeSurely(ctx, t.Name, e.imageFor(kit, t))
}

func (e *Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	d, err := e.user(ctx, kit)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var found []engine.Thing
	label := client.Filters{}.Add("label", engine.Label+"="+runID)
	containers, cerr := d.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: label})
	for _, c := range containers.Items {
		// One that is being removed has lost its name already.
		found = append(found, d.thing(engine.KindContainer, cmp.Or(strings.Join(c.Names, " "), c.ID)))
	}
	volumes, verr := d.VolumeList(ctx, client.VolumeListOptions{Filters: label})
	for _, v := range volumes.Items {
		found = append(found, d.thing(engine.KindVolume, v.Name))
	}
	images, ierr := d.ImageList(ctx, client.ImageListOptions{})
	for _, i := range images.Items {
		for _, tag := range i.RepoTags {
			if strings.HasSuffix(tag, ":"+runID) {
				found = append(found, d.thing(engine.KindImage, tag))
			}
		}
	}
	if err := errors.Join(cerr, verr, ierr); err != nil {
		return nil, d.wrong("listing what bears the run's id", err)
	}
	return found, nil
}
