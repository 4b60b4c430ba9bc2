package lxd

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"
)

// nic is the first network device of the user's default profile, where that is
// in a network of the daemon's own. A payload does not ask for an address by
// DHCP as a distribution's init does; so it is given one of the network's, by
// liblxc, when the container is started.
type nic struct {
	index   int // among the container's
	gateway netip.Prefix

	mu   sync.Mutex
	next netip.Addr
	used map[netip.Addr]bool
}

// network is what is read of a network.
type network struct {
	Managed bool
	Config  map[string]string
}

// findNIC finds the device that containers get an address by; why says that
// there is none.
func (d *daemon) findNIC(ctx context.Context, user profile, start byte) (n *nic, why string, err error) {
	index := 0
	for _, name := range slices.Sorted(maps.Keys(user.Devices)) {
		dev := user.Devices[name]
		if dev["type"] != "nic" {
			continue
		}
		var net network
		if dev["network"] != "" {
			if err := d.within("").get(ctx, "/1.0/networks/"+dev["network"], &net); err != nil {
				return nil, "", d.wrong("reading the network "+dev["network"], err)
			}
		}
		gateway, perr := netip.ParsePrefix(net.Config["ipv4.address"])
		if net.Managed && perr == nil && gateway.Addr().Is4() {
			n := &nic{index: index, gateway: gateway, used: map[netip.Addr]bool{gateway.Addr(): true}}
			n.next = n.first(start)
			return n, "", n.reserve(ctx, d, dev["network"])
		}
		index++
	}
	if index == 0 {
		return nil, "the user's default profile has no network", nil
	}
	return nil, "the networks of the user's default profile are not the daemon's own, or have no IPv4 addresses", nil
}

// first spreads runs over the network.
func (n *nic) first(start byte) netip.Addr {
	a := n.gateway.Masked().Addr().As4()
	a[3] += start
	return netip.AddrFrom4(a)
}

// reserve keeps off addresses that others have.
func (n *nic) reserve(ctx context.Context, d *daemon, name string) error {
	var leases []struct{ Address string }
	if err := d.within("").get(ctx, "/1.0/networks/"+name+"/leases", &leases); err != nil {
		return d.wrong("listing the leases of the network "+name, err)
	}
	for _, l := range leases {
		if a, err := netip.ParseAddr(l.Address); err == nil {
			n.used[a] = true
		}
	}
	return nil
}

// take gives a free address; empty where there is none, and on nil.
func (n *nic) take() string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	around := false
	for a := n.next; ; a = a.Next() {
		// The last address of a network is not a host's.
		if !n.gateway.Contains(a.Next()) {
			if around {
				return ""
			}
			around, a = true, n.gateway.Masked().Addr()
			continue
		}
		if a != n.gateway.Masked().Addr() && !n.used[a] {
			n.used[a], n.next = true, a.Next()
			return a.String()
		}
	}
}

func (n *nic) giveBack(address string) {
	if a, err := netip.ParseAddr(address); n != nil && err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.used, a)
	}
}

// configure are the lines that liblxc reads.
func (n *nic) configure(address string) []string {
	at := fmt.Sprintf("lxc.net.%d.ipv4.", n.index)
	return []string{
		at + fmt.Sprintf("address = %s/%d", address, n.gateway.Bits()),
		at + "gateway = " + n.gateway.Addr().String(),
	}
}
