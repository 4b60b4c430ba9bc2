package lxc

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/record"
)

// leases is where the DHCP server of LXC's network service keeps account.
const leases = "/var/lib/misc/dnsmasq." + bridge + ".leases"

func hasBridge() bool {
	_, err := os.Stat("/sys/class/net/" + bridge + "/bridge")
	return err == nil
}

// findAddresses are the bridge's, of which LXC gives containers one: a payload
// asks nobody by DHCP.
func findAddresses(seed string) (*cni.Addresses, error) {
	link, err := net.InterfaceByName(bridge)
	if err != nil {
		return nil, fmt.Errorf("looking at the bridge %s: %w", bridge, err)
	}
	addrs, err := link.Addrs()
	if err != nil {
		return nil, fmt.Errorf("reading the addresses of %s: %w", bridge, err)
	}
	for _, a := range addrs {
		gateway, err := netip.ParsePrefix(a.String())
		if err != nil || !gateway.Addr().Is4() {
			continue
		}
		n := cni.NewAddresses(gateway, seed)
		text, _ := os.ReadFile(leases) // where there is no such server, nobody has any
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 2 {
				n.Reserve(f[2])
			}
		}
		return n, nil
	}
	return nil, &engine.Error{Class: record.Unavailable, Text: "the bridge " + bridge + " has no IPv4 address"}
}

// where is a container's place in the network, as options.
type where struct {
	address, noAddress string
	set                []string
}

// locate finds it; on error there is nothing to give back.
func (e *environment) locate(task engine.Task) (where, error) {
	level := network(e.Spec)
	if task.Beside != nil {
		h, ok := task.Beside.(*held)
		if !ok || h.e != e {
			return where{}, &engine.Error{Class: record.HarnessError, Text: "sharing namespaces with a container of another environment"}
		}
		w := where{address: h.Place().Address, noAddress: h.Place().NoAddress}
		if level == "host" {
			return w, nil
		}
		if h.init == 0 {
			return w, &engine.Error{Class: record.EngineError, Text: "LXC does not report the init of the container to share namespaces with"}
		}
		w.set = []string{fmt.Sprintf("lxc.namespace.share.net=%d", h.init)}
		return w, nil
	}
	switch level {
	case "host":
		return where{address: "127.0.0.1"}, nil
	case "bridge":
		a := e.addresses.Take()
		if a == "" {
			return where{}, &engine.Error{Class: record.Unavailable, Text: "the network of " + bridge + " has no free address"}
		}
		return where{address: a, set: []string{
			fmt.Sprintf("lxc.net.0.ipv4.address=%s/%d", a, e.addresses.Gateway.Bits()),
			"lxc.net.0.ipv4.gateway=" + e.addresses.Gateway.Addr().String(),
		}}, nil
	}
	return where{noAddress: "the container has no network but its own loopback (network=none)"}, nil
}

// mounts are the further file systems, as options.
func (e *environment) mounts(task engine.Task) (set []string, err error) {
	if task.Own && !e.overlay {
		return nil, adapter.Unsupported("with storage=directory a container has the image's own directory, read-only: storage=overlay has a layer to write in")
	}
	for _, m := range task.Mounts {
		at := strings.ReplaceAll(strings.TrimPrefix(m.Target, "/"), " ", `\040`)
		switch m.Kind {
		case engine.Bind:
			set = append(set, fmt.Sprintf("lxc.mount.entry=%s %s none bind,create=dir 0 0", strings.ReplaceAll(m.Source, " ", `\040`), at))
		case engine.Tmpfs:
			options := "rw,nosuid,nodev,create=dir"
			if m.SizeBytes > 0 {
				options += fmt.Sprintf(",size=%d", m.SizeBytes)
			}
			set = append(set, fmt.Sprintf("lxc.mount.entry=tmpfs %s tmpfs %s 0 0", at, options))
		default:
			return nil, adapter.Unsupported("LXC has no volumes: they are a manager's")
		}
	}
	return set, nil
}
