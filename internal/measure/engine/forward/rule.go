package forward

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"plimsoll/internal/measure/engine"
)

// filterSwitch says whether bridged packets are handed to the packet filter. It
// is not there where the kernel has no such thing, or has not loaded it.
const filterSwitch = "/proc/sys/net/bridge/bridge-nf-call-iptables"

// filtered says whether bridged packets go through the packet filter's FORWARD.
func filtered() bool {
	text, err := os.ReadFile(filterSwitch)
	return err == nil && strings.TrimSpace(string(text)) != "0"
}

// place is where a rule can stand: the FORWARD of one backend, or a base chain.
type place interface {
	fmt.Stringer
	mayDrop(ctx context.Context) (bool, error)
	insert(ctx context.Context, bridge, mark string) error
	has(ctx context.Context, bridge, mark string) (bool, error)
	remove(ctx context.Context, bridge, mark string) error
}

// places are all that there are on this machine.
func places(ctx context.Context, kit *engine.Kit) ([]place, error) {
	programs := backends(ctx, kit)
	more, err := chains(ctx, kit, programs)
	var all []place
	for _, p := range programs {
		all = append(all, p)
	}
	for _, c := range more {
		all = append(all, c)
	}
	return all, err
}

// markOf is what a rule of a run bears.
func markOf(runID string) string { return "plimsoll-" + runID }

// Passage is what lets the packets of a bridge, or of a network that the host
// routes, pass: a rule in every chain that might drop them.
type Passage struct {
	kit    *engine.Kit
	bridge string
	made   []place
}

// Let makes the rules for a bridge of the kit's run, which need not be there
// yet, or for a network of its that the host routes; none where nothing can drop
// its packets. What was made must be closed, also where there is an error.
func Let(ctx context.Context, kit *engine.Kit, bridge string) (*Passage, error) {
	p := &Passage{kit: kit, bridge: bridge}
	if !kit.Root || !routed(bridge) && !filtered() {
		return p, nil
	}
	all, err := places(ctx, kit)
	errs := []error{err}
	for _, at := range all {
		errs = append(errs, p.open(ctx, at))
	}
	if err := errors.Join(errs...); err != nil {
		return p, fmt.Errorf("letting the packets of %s pass: %w", bridge, err)
	}
	return p, nil
}

func (p *Passage) open(ctx context.Context, at place) error {
	drops, err := at.mayDrop(ctx)
	if err != nil || !drops {
		return err
	}
	if err := p.kit.Ledger.Made(p.thing(at)); err != nil {
		return err
	}
	p.made = append(p.made, at)
	return at.insert(ctx, p.bridge, markOf(p.kit.RunID))
}

func (p *Passage) thing(at place) engine.Thing {
	return engine.Thing{Kind: engine.KindRule, Name: p.bridge, At: at.String()}
}

// Facts say what was done to the packet filter, in words that are the same in
// every run; nothing where nothing was.
func (p *Passage) Facts() map[string]string {
	var at []string
	for _, m := range p.made {
		at = append(at, m.String())
	}
	if len(at) == 0 {
		return nil
	}
	whose := "bridge"
	if routed(p.bridge) {
		whose = "network"
	}
	return map[string]string{"packet-filter": "a rule for the run's " + whose + " in " + strings.Join(at, ", ")}
}

// Close takes the rules away. It may be called twice, and on nil.
func (p *Passage) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	var errs []error
	var left []place
	for _, at := range p.made {
		err := at.remove(context.WithoutCancel(ctx), p.bridge, markOf(p.kit.RunID))
		if err == nil {
			err = p.kit.Ledger.Gone(p.thing(at))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("removing the rule for %s from %s: %w", p.bridge, at, err))
			left = append(left, at)
		}
	}
	p.made = left
	return errors.Join(errs...)
}

// Remove takes a rule away that a ledger names, where it still is; did says that
// it was. A chain that is gone took its rules with it.
func Remove(ctx context.Context, kit *engine.Kit, t engine.Thing) (did bool, err error) {
	if !kit.Root {
		return false, errors.New("rules of the packet filter are root's")
	}
	all, err := places(ctx, kit)
	for _, at := range all {
		if at.String() != t.At {
			continue
		}
		did, err := at.has(ctx, t.Name, markOf(kit.RunID))
		if err == nil && did {
			err = at.remove(ctx, t.Name, markOf(kit.RunID))
		}
		return did, err
	}
	program, _, chain := strings.Cut(t.At, " ")
	switch {
	case err != nil:
	case chain && lookPath(kit, "nft") != "":
	case !chain && program == (iptables{backend: "legacy"}).String() && !hasLegacy():
	default:
		err = fmt.Errorf("the program that made it, of %s, is not on PATH", program)
	}
	return false, err
}
