package cni

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// freeSubnet finds a network of 254 addresses that overlaps with none that an
// interface or a route of this machine has, and keeps other runs off it until it is
// closed.
func freeSubnet(runID string) (netip.Prefix, io.Closer, error) {
	taken, err := subnets()
	if err != nil {
		return netip.Prefix{}, nil, err
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(runID)) // never fails
	for i := range uint32(256) {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 213, byte(h.Sum32() + i), 0}), 24)
		if slices.ContainsFunc(taken, p.Overlaps) {
			continue
		}
		if held, err := reserve(p); held != nil || err != nil {
			return p, held, err
		}
	}
	return netip.Prefix{}, nil, &engine.Error{Class: record.Unavailable, Text: "no network of 10.213.0.0/16 is free on this machine"}
}

// subnets are the networks in use, but for the default route.
func subnets() ([]netip.Prefix, error) {
	var all []netip.Prefix
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses in use: %w", err)
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p.Masked())
		}
	}
	text, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return nil, fmt.Errorf("listing the routes: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if p, ok := routeOf(line); ok {
			all = append(all, p)
		}
	}
	return all, nil
}

// routeOf reads a line of /proc/net/route: destination and mask are the second
// and eighth field, hexadecimal, in the machine's order of bytes.
func routeOf(line string) (netip.Prefix, bool) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return netip.Prefix{}, false
	}
	var dst, mask uint32
	if _, err := fmt.Sscanf(f[1]+" "+f[7], "%x %x", &dst, &mask); err != nil || mask == 0 {
		return netip.Prefix{}, false
	}
	network := netip.AddrFrom4([4]byte{byte(dst), byte(dst >> 8), byte(dst >> 16), byte(dst >> 24)})
	return netip.PrefixFrom(network, bits.OnesCount32(mask)), true
}

// removeBridge removes a bridge; one that is not there is gone.
func removeBridge(name string) error {
	if name == "" {
		return nil
	}
	if _, err := os.Stat("/sys/class/net/" + name + "/bridge"); err != nil {
		return nil
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The kernel removes none that is up.
	if err := setUp(fd, name, false); err != nil {
		return err
	}
	if err := delBridge(fd, name); err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("removing the bridge %s: %w", name, err)
	}
	return nil
}

// Remove takes a network's bridge away that a ledger names; did says that it
// was still there.
func Remove(_ context.Context, kit *engine.Kit, t engine.Thing) (did bool, err error) {
	if !ownLink(kit.RunID, t.Name) {
		return false, fmt.Errorf("%s is not a bridge of the run %s", t.Name, kit.RunID)
	}
	if _, err := os.Stat("/sys/class/net/" + t.Name); err != nil {
		return false, nil //nolint:nilerr // it is gone
	}
	return true, removeBridge(t.Name)
}
