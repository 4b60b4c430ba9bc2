package containerd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// thing is what the ledger says of something in this daemon.
func (d *daemon) thing(kind, name string) engine.Thing {
	return engine.Thing{Kind: kind, Name: name, Engine: Name, At: d.socket}
}

func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookFor(things, func(t engine.Thing) (bool, error) { return look(ctx, kit, t) },
		func(ctx context.Context, t engine.Thing) error { return takeAway(ctx, kit, t) }), nil
}

// askAt calls f with the daemon at a socket, whichever the environment names.
func askAt(ctx context.Context, kit *engine.Kit, socket string, f func(*daemon) error) error {
	d, _, err := dial(ctx, kit, socket)
	if err != nil {
		return err
	}
	return errors.Join(f(d), d.Close())
}

// look says whether a thing of the ledger's is still there.
func look(ctx context.Context, kit *engine.Kit, t engine.Thing) (there bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	err = askAt(ctx, kit, t.At, func(d *daemon) error {
		switch t.Kind {
		case engine.KindNamespace:
			there, err = d.hasNamespace(ctx, t.Name)
		case engine.KindContainer:
			there, err = d.ours(ctx, t.Name)
		default:
			err = &engine.Error{Class: record.HarnessError, Text: "the ledger has a " + t.Kind + " of containerd's, which is none of its kinds"}
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("containerd at %s hangs", t.At), Fix: restarts(t.At), Err: err}
	}
	return there, err
}

// ours says whether a container of the run's is there, in its namespace.
func (d *daemon) ours(ctx context.Context, name string) (bool, error) {
	if there, err := d.hasNamespace(ctx, d.namespace); err != nil || !there {
		return false, err
	}
	c, err := d.ContainerService().Get(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return false, nil // a snapshot of it goes with the namespace
	case err != nil:
		return false, d.wrong("looking for the container "+name, err)
	}
	return c.Labels[engine.Label] == d.runID, nil
}

// takeAway opens a connection of its own, since the one that found the thing is
// closed by then, and looks at the label again.
func takeAway(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	return askAt(ctx, kit, t.At, func(d *daemon) error {
		if t.Kind == engine.KindNamespace {
			return d.removeNamespace(ctx, kit.Ledger, t.Name)
		}
		if there, err := d.ours(ctx, t.Name); err != nil || !there {
			return err
		}
		return d.remove(ctx, t.Name)
	})
}

func (*Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	d, _, err := connect(ctx, kit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }() // it was only looked at
	all, err := d.NamespaceService().List(ctx)
	if err != nil {
		return nil, d.wrong("listing the namespaces", err)
	}
	var found []engine.Thing
	for _, ns := range all {
		labels, err := d.NamespaceService().Labels(ctx, ns)
		if err != nil && !errdefs.IsNotFound(err) {
			return nil, d.wrong("looking at the namespace "+ns, err)
		}
		if labels[engine.Label] == runID || slices.Contains([]string{Namespace(runID), pullNamespace(runID)}, ns) {
			found = append(found, d.thing(engine.KindNamespace, ns))
		}
		containers, err := d.ContainerService().List(namespaces.WithNamespace(ctx, ns), fmt.Sprintf("labels.%q==%s", engine.Label, runID))
		if err != nil {
			return nil, d.wrong("listing the containers of the namespace "+ns, err)
		}
		for _, c := range containers {
			found = append(found, d.thing(engine.KindContainer, c.ID))
		}
	}
	return found, nil
}

// Places lists the container's control groups. None of its name existed before
// the container was made: see environment.taken.
func (*Engine) Places(t engine.Thing) []string {
	if t.Kind == engine.KindContainer {
		groups, _ := cgroup.Places(t.Name) // without hierarchies there are none
		return groups
	}
	return containerdclient.Places(strings.TrimPrefix(t.At, "unix://"), t.Name)
}
