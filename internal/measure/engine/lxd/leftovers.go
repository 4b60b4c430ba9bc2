package lxd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// thing is what the ledger says of something in this daemon. All but pools and
// projects lies in the run's project.
func (d *daemon) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: d.name, At: d.socket}
}

func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookFor(things, func(t engine.Thing) (bool, error) { return e.look(ctx, kit, t) },
		func(ctx context.Context, t engine.Thing) error { return e.takeAway(ctx, kit, t) }), nil
}

// daemonOf is the daemon that a thing of the ledger's is in, and not the one that
// the environment names by now.
func (e *Engine) daemonOf(kit *engine.Kit, t engine.Thing) *daemon {
	d := e.dial(t.At).within(projectName(kit.RunID))
	d.run = kit.RunID
	return d
}

// look says whether a thing of the ledger's is there and bears the run's label.
func (e *Engine) look(ctx context.Context, kit *engine.Kit, t engine.Thing) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	d := e.daemonOf(kit, t)
	defer d.close()
	switch t.Kind {
	case engine.KindProject:
		there, err = d.within("").bears(ctx, "/1.0/projects/"+t.Name)
	case engine.KindPool:
		there, err = d.within("").bears(ctx, "/1.0/storage-pools/"+t.Name)
	case engine.KindContainer:
		there, err = d.bears(ctx, "/1.0/instances/"+t.Name)
	case engine.KindProfile:
		there, err = d.bears(ctx, "/1.0/profiles/"+t.Name)
	case engine.KindImage:
		var print string
		if print, err = d.imageFingerprint(ctx, t.Name); err == nil {
			there, err = d.bears(ctx, "/1.0/images/"+print)
		} else if notFound(err) {
			err = nil
		}
	default:
		err = &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("the ledger has a %s of %s's, which is none of its kinds", t.Kind, e.name)}
	}
	if err == nil {
		return there, nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false, &engine.Error{Class: record.TimeOut, Err: err, Fix: "systemctl restart " + e.name,
			Text: fmt.Sprintf("the daemon at %s hangs", t.At)}
	}
	told := d.wrong("looking for the "+t.Kind+" "+t.Name, err)
	if _, err := os.Stat(t.At); errors.Is(err, os.ErrNotExist) {
		told.Fix = "systemctl start " + e.name
	}
	return false, told
}

// takeAway opens a connection of its own, since the one that found the thing is
// closed by then.
func (e *Engine) takeAway(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	d := e.daemonOf(kit, t)
	defer d.close()
	switch t.Kind {
	case engine.KindProject:
		return d.emptyProject(ctx, t.Name)
	case engine.KindPool:
		return d.removePool(ctx, t.Name)
	case engine.KindContainer:
		return d.removeInstance(ctx, t.Name)
	case engine.KindImage:
		return d.removeImage(ctx, t.Name)
	}
	return d.removeOurs(ctx, "the profile "+t.Name, "/1.0/profiles/"+t.Name)
}

var _ engine.Bearer = (*Engine)(nil)

// Bearing lists projects and pools with the run's label or id, and what is in such
// a project.
func (e *Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	d, _, cerr := e.connect(ctx, kit)
	if cerr != nil {
		return nil, cerr
	}
	defer d.close()
	var found []engine.Thing
	for kind, at := range map[string]string{engine.KindProject: "/1.0/projects", engine.KindPool: "/1.0/storage-pools"} {
		list, err := d.list(ctx, at)
		if err != nil {
			return found, d.wrong("listing each "+kind, err)
		}
		for _, it := range list {
			if it.of(runID) || strings.Contains(it.Name, runID) {
				found = append(found, d.thing(kind, it.Name))
			}
		}
	}
	for _, p := range engine.OfKind(found, engine.KindProject) {
		list, err := d.within(p.Name).list(ctx, "/1.0/instances")
		if err != nil {
			return found, d.wrong("listing the containers", err)
		}
		for _, it := range list {
			found = append(found, d.thing(engine.KindContainer, it.Name))
		}
	}
	return found, nil
}
