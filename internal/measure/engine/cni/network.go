package cni

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/forward"
)

// Networks are the networks of this process's runs, one of each kind for each
// run. The zero value is ready.
type Networks struct{ pool adapter.Pool[*Network] }

// Network is a bridge with addresses, or what another plug-in makes.
type Network struct {
	kit     *engine.Kit
	kind    string
	dir     string // of the plug-ins
	bridge  string // or the parent of its interfaces; "" where it has no link of its own
	subnet  netip.Prefix
	held    io.Closer                   // keeps other runs off the subnet
	data    string                      // where host-local keeps account
	forward func(context.Context) error // lets go of forwarding
	plugins []plugin
	passage *forward.Passage
	shut    error // why the packet filter could not be told to let its packets pass
}

// bridgePrefix is how the bridges of runs begin; a run's id follows.
const bridgePrefix = "plm"

// Get gives the run's network of a kind, and what must be called when it is not
// needed any more. A bridge is made by the plug-in, with the first container.
func (n *Networks) Get(ctx context.Context, kit *engine.Kit, kind string) (*Network, func(context.Context) error, error) {
	return n.pool.Get(ctx, kit.RunID+" "+kind, func(ctx context.Context) (*Network, func(context.Context) error, error) {
		net, err := newNetwork(ctx, kit, kind)
		if err != nil {
			return nil, nil, err
		}
		return net, net.close, nil
	})
}

func newNetwork(ctx context.Context, kit *engine.Kit, kind string) (*Network, error) {
	dir, err := Find(kit)
	if err != nil {
		return nil, err
	}
	if err := offers(dir, kind); err != nil {
		return nil, err
	}
	link := linkOf(kit.RunID, kind)
	if err := taken(link); err != nil {
		return nil, err
	}
	subnet, held, err := freeSubnet(kit.RunID + suffixes[kind])
	if err != nil {
		return nil, err
	}
	n := &Network{kit: kit, kind: kind, dir: dir, bridge: link, subnet: subnet, held: held, data: filepath.Join(kit.Dir, "cni-addresses-"+kind)}
	loopback := map[string]any{"cniVersion": version, "name": "plimsoll-lo", "type": "loopback"}
	own := config(kind, link)
	maps.Copy(own, map[string]any{
		"cniVersion": version, "name": "plimsoll-" + kit.RunID + suffixes[kind], "type": kind,
		"ipam": map[string]any{"type": "host-local", "dataDir": n.data,
			"ranges": [][]map[string]string{{{"subnet": subnet.String()}}}, "routes": []map[string]string{{"dst": "0.0.0.0/0"}}},
	})
	for _, c := range []struct {
		config map[string]any
		device string
	}{{loopback, "lo"}, {own, "eth0"}} {
		text, err := json.Marshal(c.config)
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		n.plugins = append(n.plugins, plugin{dir: dir, name: c.config["type"].(string), config: text, device: c.device})
	}
	if link != "" {
		if err := kit.Ledger.Made(engine.Thing{Kind: engine.KindLink, Name: link}); err != nil {
			return nil, errors.Join(err, held.Close())
		}
	}
	if routes(kind) {
		if n.forward, err = holdForwarding(ctx, kit); err != nil {
			return nil, errors.Join(err, n.close(context.WithoutCancel(ctx)))
		}
	}
	if link == "" { // the host routes, and its packet filter sees what it forwards
		n.passage, n.shut = forward.Let(ctx, kit, subnet.String())
		return n, nil
	}
	if err := parent(kind, link); err != nil {
		return nil, errors.Join(err, n.close(context.WithoutCancel(ctx)))
	}
	if kind != Bridge {
		return n, nil // what goes from one to the other crosses no bridge and no packet filter
	}
	// Where the packet filter can't be spoken to, containers start all the same;
	// whether they reach each other is tried by whoever needs it.
	n.passage, n.shut = forward.Let(ctx, kit, n.bridge)
	return n, nil
}

// Facts say what the network is.
func (n *Network) Facts() map[string]string {
	facts := map[string]string{"network": n.kind, "network-by": "CNI (loopback, " + n.kind + ", host-local)", "cni-plugins": n.dir}
	if n.passage != nil {
		maps.Copy(facts, n.passage.Facts())
	}
	if n.shut != nil {
		facts["packet-filter"] = n.shut.Error()
	}
	return facts
}

// close removes the bridge, what lets its packets pass, and the account of
// addresses.
func (n *Network) close(ctx context.Context) error {
	defer n.held.Close()
	err := errors.Join(n.passage.Close(ctx), removeBridge(n.bridge), safepath.RemoveAll(n.data))
	if err = errors.Join(err, n.letGo(ctx)); err != nil {
		return fmt.Errorf("removing the network %s: %w", n.kind, err)
	}
	if n.bridge == "" {
		return nil
	}
	return errors.Join(n.kit.Ledger.Gone(engine.Thing{Kind: engine.KindLink, Name: n.bridge}))
}

// letGo says that the network needs no forwarding any more.
func (n *Network) letGo(ctx context.Context) error {
	if n.forward == nil {
		return nil
	}
	return n.forward(ctx)
}

// Attachment is a network namespace with an address in a network.
type Attachment struct {
	// Path is the namespace's; it can be opened while the attachment lasts.
	Path string
	// Address is the container's IPv4 address.
	Address netip.Addr

	n    *Network
	id   string
	file *os.File
}

// Attach makes a network namespace and gives it an address. id is the
// container's, unique on this machine. On error nothing is left.
func (n *Network) Attach(ctx context.Context, id string) (*Attachment, error) {
	f, err := newNamespace()
	if err != nil {
		return nil, err
	}
	a := &Attachment{Path: pathOf(f), n: n, id: id, file: f}
	for _, p := range n.plugins {
		result, err := p.call(ctx, "ADD", id, a.Path)
		if err == nil && p.device == "eth0" {
			a.Address, err = address(result)
		}
		if err != nil {
			return nil, errors.Join(err, a.Detach(context.WithoutCancel(ctx)))
		}
	}
	return a, nil
}

// Detach gives the address back and lets go of the namespace, which ends when
// no process is in it any more. It may be called twice, and on nil.
func (a *Attachment) Detach(ctx context.Context) error {
	if a == nil || a.file == nil {
		return nil
	}
	var errs []error
	for i := len(a.n.plugins) - 1; i >= 0; i-- {
		_, err := a.n.plugins[i].call(ctx, "DEL", a.id, a.Path)
		errs = append(errs, err)
	}
	errs = append(errs, a.file.Close())
	a.file = nil
	return errors.Join(errs...)
}
