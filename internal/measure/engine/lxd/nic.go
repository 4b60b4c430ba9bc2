package lxd

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"plimsoll/internal/measure/engine/cni"
)

// nic is the first network device of the user's default profile that is in a
// network of the daemon's own. A payload does not ask for an address by DHCP as
// a distribution's init does; so it is given one of the network's, by liblxc,
// when the container is started.
type nic struct {
	*cni.Addresses
	index int // among the container's
}

// network is what is read of a network.
type network struct {
	Managed bool
	Config  map[string]string
}

// findNIC finds the device that containers get an address by; why says that
// there is none.
func (d *daemon) findNIC(ctx context.Context, user profile, seed string) (n *nic, why string, err error) {
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
			n := &nic{Addresses: cni.NewAddresses(gateway, seed), index: index}
			return n, "", n.reserve(ctx, d, dev["network"])
		}
		index++
	}
	if index == 0 {
		return nil, "the user's default profile has no network", nil
	}
	return nil, "the networks of the user's default profile are not the daemon's own, or have no IPv4 addresses", nil
}

// reserve keeps off addresses that others have.
func (n *nic) reserve(ctx context.Context, d *daemon, name string) error {
	var leases []struct{ Address string }
	if err := d.within("").get(ctx, "/1.0/networks/"+name+"/leases", &leases); err != nil {
		return d.wrong("listing the leases of the network "+name, err)
	}
	for _, l := range leases {
		n.Reserve(l.Address)
	}
	return nil
}

// take and giveBack do nothing where there is no network.
func (n *nic) take() string {
	if n == nil {
		return ""
	}
	return n.Take()
}

func (n *nic) giveBack(address string) {
	if n != nil {
		n.GiveBack(address)
	}
}

// configure are the lines that liblxc reads.
func (n *nic) configure(address string) []string {
	at := fmt.Sprintf("lxc.net.%d.ipv4.", n.index)
	return []string{
		at + fmt.Sprintf("address = %s/%d", address, n.Gateway.Bits()),
		at + "gateway = " + n.Gateway.Addr().String(),
	}
}
