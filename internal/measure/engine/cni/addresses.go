package cni

import (
	"net/netip"
	"sync"
)

// Addresses are those of a bridge that is not ours, which containers are given
// one by one by their engine's configuration: for payloads that ask nobody for
// an address. It is safe for several goroutines, and a nil one has none.
type Addresses struct {
	// Gateway is the bridge's own address, in its network.
	Gateway netip.Prefix

	mu   sync.Mutex
	next netip.Addr
	used map[netip.Addr]bool
}

// NewAddresses begins anywhere in the network, which seed decides: runs that
// begin at once do so in different places.
func NewAddresses(gateway netip.Prefix, seed string) *Addresses {
	a := gateway.Masked().Addr().As4()
	for i := range len(seed) {
		a[3] = a[3]*31 + seed[i]
	}
	first := netip.AddrFrom4(a)
	if !gateway.Contains(first) {
		first = gateway.Masked().Addr()
	}
	return &Addresses{Gateway: gateway, next: first, used: map[netip.Addr]bool{gateway.Addr(): true}}
}

// Reserve keeps off an address that somebody else has.
func (n *Addresses) Reserve(address string) {
	if a, err := netip.ParseAddr(address); err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.used[a] = true
	}
}

// Take gives a free address; empty where there is none.
func (n *Addresses) Take() string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	network, around := n.Gateway.Masked().Addr(), false
	for a := n.next; ; a = a.Next() {
		if !n.Gateway.Contains(a.Next()) { // the last of a network is no host's
			if around {
				return ""
			}
			around, a = true, network
			continue
		}
		if a != network && !n.used[a] {
			n.used[a], n.next = true, a.Next()
			return a.String()
		}
	}
}

// GiveBack makes an address free again.
func (n *Addresses) GiveBack(address string) {
	if a, err := netip.ParseAddr(address); n != nil && err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.used, a)
	}
}
