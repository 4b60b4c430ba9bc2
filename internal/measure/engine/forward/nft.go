package forward

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"plimsoll/internal/measure/engine"
)

// chain is a base chain of nftables, or a rule's place in one.
type chain struct {
	Family string `json:"family"`
	Table  string `json:"table"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Hook   string `json:"hook"`
	Policy string `json:"policy"`
}

// nftRule is what is read of a rule.
type nftRule struct {
	Handle  int    `json:"handle"`
	Comment string `json:"comment"`
	Expr    any    `json:"expr"`
}

// nftables is one base chain of nftables. It is spoken to in JSON: names come
// from others.
type nftables struct {
	path string
	chain
}

// object is what nft prints a list of.
type object struct {
	Chain *chain
	Rule  *nftRule
}

// nftCall hands nft one command.
func nftCall(ctx context.Context, path string, command any) ([]object, error) {
	text, err := json.Marshal(map[string]any{"nftables": []any{command}})
	if err != nil {
		return nil, err
	}
	out, err := call(ctx, text, path, "-j", "-f", "-")
	if err != nil || len(out) == 0 {
		return nil, err
	}
	var said struct{ Nftables []object }
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("reading what %s says: %w", path, err)
	}
	return said.Nftables, nil
}

// chains are the base chains of nftables that see what is forwarded, but for
// that of iptables where its own program is there.
func chains(ctx context.Context, kit *engine.Kit, programs []iptables) ([]nftables, error) {
	path := lookPath(kit, "nft")
	if path == "" {
		return nil, nil
	}
	objects, err := nftCall(ctx, path, map[string]any{"list": map[string]any{"chains": nil}})
	own := slices.ContainsFunc(programs, func(p iptables) bool { return p.backend == "nft" })
	var found []nftables
	for _, o := range objects {
		switch c := o.Chain; {
		case c == nil || c.Hook != "forward" || c.Type != "filter" || c.Family != "ip" && c.Family != "inet":
		case own && c.Family == "ip" && c.Table == "filter" && c.Name == "FORWARD":
		default:
			found = append(found, nftables{path, *c})
		}
	}
	return found, err
}

func (n nftables) String() string { return fmt.Sprintf("nftables %s %s %s", n.Family, n.Table, n.Name) }

// mayDrop looks at the policy alone: the rules of a chain that accepts what they
// pass over are somebody's considered choice, with terms of their own.
func (n nftables) mayDrop(context.Context) (bool, error) { return n.Policy == "drop", nil }

// expression is ours for a bridge or a network, as nft takes it and prints it.
func expression(bridge string) []any {
	return append(matches(bridge), map[string]any{"accept": nil})
}

func (n nftables) insert(ctx context.Context, bridge, mark string) error {
	_, err := nftCall(ctx, n.path, map[string]any{"insert": map[string]any{"rule": map[string]any{
		"family": n.Family, "table": n.Table, "chain": n.Name, "comment": mark, "expr": expression(bridge),
	}}})
	return err
}

// ours are the handles of the rules that are word by word what insert makes.
func (n nftables) ours(ctx context.Context, bridge, mark string) ([]int, error) {
	objects, err := nftCall(ctx, n.path, map[string]any{"list": map[string]any{"chain": map[string]any{
		"family": n.Family, "table": n.Table, "name": n.Name,
	}}})
	var handles []int
	for _, o := range objects {
		if o.Rule != nil && o.Rule.Comment == mark && reflect.DeepEqual(o.Rule.Expr, any(expression(bridge))) {
			handles = append(handles, o.Rule.Handle)
		}
	}
	return handles, err
}

func (n nftables) has(ctx context.Context, bridge, mark string) (bool, error) {
	handles, err := n.ours(ctx, bridge, mark)
	return len(handles) > 0, err
}

func (n nftables) remove(ctx context.Context, bridge, mark string) error {
	handles, err := n.ours(ctx, bridge, mark)
	if err != nil {
		return err
	}
	for _, h := range handles {
		_, err := nftCall(ctx, n.path, map[string]any{"delete": map[string]any{"rule": map[string]any{
			"family": n.Family, "table": n.Table, "chain": n.Name, "handle": h,
		}}})
		if err != nil {
			return err
		}
	}
	return nil
}
