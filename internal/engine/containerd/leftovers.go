package containerd

import (
	"context"
	"errors"
	"strings"

	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/errdefs"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/cni"
	"plimsoll/internal/record"
)

// Leftovers is documented in engine.Engine.
func (e *Engine) Leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	left := cni.Leftovers(runID)
	for _, socket := range sockets(kit) {
		d, _, err := dial(ctx, kit, socket)
		if err != nil {
			var known *engine.Error
			if errors.As(err, &known) && known.Class == record.Unavailable {
				continue // nobody answers there
			}
			return left, err
		}
		found, err := d.leftovers(ctx, kit, runID)
		if cerr := d.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return left, d.wrong("listing what is ours", err)
		}
		left = append(left, found...)
	}
	return left, nil
}

func (d *daemon) leftovers(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Leftover, error) {
	var left []engine.Leftover
	add := func(kind, name string, remove func(context.Context, *daemon) error) {
		left = append(left, engine.Leftover{Kind: kind, Name: name, Remove: d.remover(kit, remove)})
	}
	prefix := "plimsoll-" + runID
	containers, err := d.ContainerService().List(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range containers {
		known[c.ID] = true
		if owner := c.Labels[engine.Label]; owner != "" && (runID == "" || owner == runID) {
			add("container", c.ID, func(ctx context.Context, d *daemon) error { return d.remove(ctx, c.ID) })
		}
	}
	keys, err := d.snapshotsOf(ctx, prefix)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !known[key] {
			add("file", "snapshot "+key, func(ctx context.Context, d *daemon) error { return d.removeSnapshots(ctx, key) })
		}
	}
	held, err := d.leases(ctx, runID, prefix)
	if err != nil {
		return nil, err
	}
	for _, l := range held {
		add("file", "lease "+l.ID, func(ctx context.Context, d *daemon) error {
			if err := d.LeasesService().Delete(ctx, l, leases.SynchronousDelete); err != nil && !errdefs.IsNotFound(err) {
				return err
			}
			return nil
		})
	}
	for _, ns := range []string{namespace, pullNamespace} {
		nctx := namespaces.WithNamespace(ctx, ns)
		tags, err := d.tags(nctx, runID)
		if err != nil {
			return nil, err
		}
		for _, tag := range tags {
			add("image", tag, func(ctx context.Context, d *daemon) error {
				err := d.removeImage(namespaces.WithNamespace(ctx, ns), tag)
				d.removeNamespace(ctx, ns)
				return err
			})
		}
	}
	return left, nil
}

// leases are those that bear the run's label, or hold something of the run's:
// the client takes one, without a label, whenever it makes a container.
func (d *daemon) leases(ctx context.Context, runID, prefix string) ([]leases.Lease, error) {
	all, err := d.LeasesService().List(ctx)
	if err != nil {
		return nil, err
	}
	var ours []leases.Lease
	for _, l := range all {
		mine := runID == "" || l.Labels[engine.Label] == runID
		if !mine {
			held, err := d.LeasesService().ListResources(ctx, l)
			if err != nil && !errdefs.IsNotFound(err) {
				return nil, err
			}
			for _, r := range held {
				mine = mine || strings.HasPrefix(r.ID, prefix)
			}
		}
		if mine {
			ours = append(ours, l)
		}
	}
	return ours, nil
}

// remover opens a connection of its own, since the one that found the leftover
// is closed by then.
func (d *daemon) remover(kit *engine.Kit, remove func(context.Context, *daemon) error) func(context.Context) error {
	return func(ctx context.Context) error {
		d, _, err := dial(ctx, kit, d.socket)
		if err != nil {
			return err
		}
		defer func() { _ = d.Close() }() // what was to be done is done
		return remove(ctx, d)
	}
}
