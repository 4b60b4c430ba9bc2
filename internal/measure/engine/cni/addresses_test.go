package cni

import (
	"net/netip"
	"testing"
)

func TestAddresses(t *testing.T) {
	n := NewAddresses(netip.MustParsePrefix("10.1.2.1/29"), "x")
	n.Reserve("10.1.2.3")
	n.Reserve("no address")
	seen := map[string]bool{}
	for range 4 { // of eight the network, the gateway, what is reserved, and the last
		a := n.Take()
		if p, err := netip.ParseAddr(a); err != nil || seen[a] || !n.Gateway.Contains(p) ||
			a == "10.1.2.0" || a == "10.1.2.1" || a == "10.1.2.3" || a == "10.1.2.7" {
			t.Errorf("took %q, after %v", a, seen)
		}
		seen[a] = true
	}
	if a := n.Take(); a != "" {
		t.Errorf("took %q, and none is left", a)
	}
	n.GiveBack("10.1.2.4")
	n.GiveBack("")
	if a := n.Take(); a != "10.1.2.4" {
		t.Errorf("took %q, want what was given back", a)
	}
	if NewAddresses(netip.MustParsePrefix("10.1.2.1/24"), "ab").Take() == NewAddresses(netip.MustParsePrefix("10.1.2.1/24"), "ba").Take() {
		t.Error("two runs begin at the same address")
	}
	var none *Addresses
	if none.GiveBack("10.1.2.4"); none.Take() != "" {
		t.Error("an address of no network")
	}
}
