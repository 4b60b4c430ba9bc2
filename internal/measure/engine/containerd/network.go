package containerd

import (
	"context"
	"errors"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/record"
)

// join prepares the network that was asked for. By default it is one by CNI,
// as containerd's managers make it; where that can't be had there is none, and
// the facts say why.
func (e *Engine) join(ctx context.Context, env *environment) error {
	kind := cni.Bridge
	switch level := env.spec.Level(engine.Network); {
	case slices.Contains(cni.Kinds(), level): // what is asked for by name is had, or the environment is not
		if why := env.noNetwork(); why != nil {
			reason, fix := engine.Reason(why)
			return &engine.Error{Class: record.Unavailable, Text: "no network " + level + ": " + reason, Fix: fix}
		}
		kind = level
	case level != engine.DefaultLevel:
		env.AddFacts(map[string]string{"network": level})
		return nil
	default:
		if why := env.noNetwork(); why != nil {
			reason, _ := engine.Reason(why)
			env.AddFacts(map[string]string{"network": "none", "network-reason": reason})
			return nil
		}
	}
	n, release, err := e.networks.Get(ctx, env.kit, kind)
	if err != nil {
		return err
	}
	if err := n.Try(ctx); err != nil {
		return errors.Join(err, release(context.WithoutCancel(ctx)))
	}
	env.network = n
	env.release = append(env.release, release)
	env.AddFacts(n.Facts())
	return nil
}

// noNetwork says why containers can have no address, or nil.
func (env *environment) noNetwork() error {
	switch {
	case env.spec.Level(engine.Client) == byCLI:
		return errors.New("ctr gives a container no other network than what lies in /etc/cni/net.d, which is the user's")
	case env.runtime.foreign:
		return errors.New("a sandbox with a network stack of its own takes an interface over when it is made as a pod, which is the CRI's work")
	}
	_, err := cni.Find(env.kit)
	return err
}
