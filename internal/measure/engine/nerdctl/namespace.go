package nerdctl

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/record"
)

// thing is what the ledger says of something in this containerd.
func (c *client) thing(name string) engine.Thing {
	return engine.Thing{Kind: engine.KindNamespace, Name: name, Engine: "nerdctl", At: c.socket}
}

// inSpace calls f with a namespace of the containerd at a socket: by its API,
// since nerdctl may have gone from the PATH when a run is cleaned up after.
func inSpace(ctx context.Context, socket, name, runID string, f func(*containerdclient.Space) error) error {
	c, err := containerdclient.Dial(ctx, socket, engine.LookLimit)
	if err != nil {
		return &engine.Error{Class: record.Unavailable, Text: fmt.Sprintf("containerd at %s does not answer", socket),
			Fix: "systemctl start containerd", Err: err}
	}
	defer func() { _ = c.Close() }() // what was to be done is done
	return f(&containerdclient.Space{Client: c, Socket: socket, Name: name, RunID: runID, Dirs: []string{"/run/containerd/runc"}})
}

// begin makes the run's namespace, which the ledger has first. The namespace's
// name is that of a control group too, in which nerdctl's containers have
// theirs: where there is one, it is somebody else's.
func (c *client) begin(ctx context.Context, kit *engine.Kit) error {
	if err := cgroup.Vacant(c.namespace); err != nil {
		return err
	}
	if err := kit.Ledger.Made(c.thing(c.namespace)); err != nil {
		return err
	}
	err := inSpace(ctx, c.socket, c.namespace, kit.RunID, func(s *containerdclient.Space) error { return s.Make(ctx) })
	if err != nil {
		return fmt.Errorf("making the namespace %s: %w", c.namespace, err)
	}
	return nil
}

// clear removes the run's namespace with everything in it, and nerdctl's own
// directory.
func (c *client) clear(ctx context.Context, kit *engine.Kit) error {
	t := c.thing(c.namespace)
	if err := takeAway(ctx, kit, t); err != nil {
		return fmt.Errorf("removing the namespace %s from containerd: %w", c.namespace, err)
	}
	if err := safepath.RemoveAll(c.data); err != nil {
		return fmt.Errorf("removing nerdctl's directory: %w", err)
	}
	return kit.Ledger.Gone(t)
}

// takeAway removes a namespace of the ledger's, and then the control groups of
// its name, which nobody else removes.
func takeAway(ctx context.Context, kit *engine.Kit, t engine.Thing) error {
	err := inSpace(ctx, t.At, t.Name, kit.RunID, func(s *containerdclient.Space) error { return s.Remove(ctx) })
	if err != nil {
		return err
	}
	return cgroup.RemoveNamed(ctx, kit.Ledger, t.Name)
}

// Leftovers finds the run's namespace, with what is in it.
func (*Engine) Leftovers(ctx context.Context, kit *engine.Kit, things []engine.Thing) ([]engine.Leftover, error) {
	return engine.LookForEach(things, func(t engine.Thing) (bool, error) { return look(ctx, kit, t) },
		func(ctx context.Context, t engine.Thing) error { return takeAway(ctx, kit, t) }), nil
}

// look says whether something of a namespace of the ledger's is still there.
func look(ctx context.Context, kit *engine.Kit, t engine.Thing) (there bool, err error) {
	if t.Kind != engine.KindNamespace {
		return false, fmt.Errorf("the ledger has a %s of nerdctl's, which is none of its kinds", t.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, engine.LookLimit)
	defer cancel()
	err = inSpace(ctx, t.At, t.Name, kit.RunID, func(s *containerdclient.Space) (err error) {
		there, err = s.There(ctx)
		return err
	})
	if err != nil && ctx.Err() != nil {
		err = &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("containerd at %s hangs", t.At), Fix: "systemctl restart containerd", Err: err}
	}
	if err != nil || there {
		return there, err
	}
	groups, err := cgroup.Named(t.Name)
	return len(groups) > 0, err
}

func (*Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	c, _, err := find(ctx, kit)
	if err != nil {
		return nil, err
	}
	c.namespace = namespacePrefix + runID
	var found []engine.Thing
	err = inSpace(ctx, c.socket, c.namespace, runID, func(s *containerdclient.Space) error {
		names, err := s.Client.NamespaceService().List(ctx)
		for _, n := range names {
			if n == c.namespace {
				found = append(found, c.thing(n))
			}
		}
		return err
	})
	return found, err
}

func (*Engine) Places(t engine.Thing) []string {
	if t.Kind != engine.KindNamespace {
		return nil
	}
	return containerdclient.Places(strings.TrimPrefix(t.At, "unix://"), t.Name)
}
