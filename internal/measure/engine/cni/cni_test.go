package cni

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestRouteOf(t *testing.T) {
	for line, want := range map[string]string{
		"eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n":    "192.0.2.0/24",
		"eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n":    "", // the default route overlaps with all
		"Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n": "",
	} {
		p, ok := routeOf(line)
		if got := p.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %v, want %q", line, got, ok, want)
		}
	}
}

// TestSubnetsOfTwoRuns: before either has made its bridge, two runs that begin to look at
// one place have different networks; the first one's is free again once it is closed.
func TestSubnetsOfTwoRuns(t *testing.T) {
	one, held, err := freeSubnet("tworuns1")
	require.NoError(t, err)
	two, other, err := freeSubnet("tworuns1")
	require.NoError(t, err)
	defer other.Close()
	if one.Overlaps(two) {
		t.Errorf("both have %s", one)
	}
	require.NoError(t, held.Close())
	again, held, err := freeSubnet("tworuns1")
	require.NoError(t, err)
	defer held.Close()
	if again != one {
		t.Errorf("%s was let go of, and %s is found", one, again)
	}
}

func TestAddress(t *testing.T) {
	got, err := address([]byte(`{"ips":[{"version":"6","address":"fd00::2/64"},{"version":"4","address":"10.1.2.3/24"}]}`))
	if err != nil || got != netip.MustParseAddr("10.1.2.3") {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{`{}`, `no json`, `{"ips":[{"address":"x"}]}`} {
		if got, err := address([]byte(bad)); err == nil {
			t.Errorf("%s gave %v", bad, got)
		}
	}
}

// TestNetwork: containers that are attached at once have addresses of their
// own in namespaces of their own; then all is gone, the bridge last.
func TestNetwork(t *testing.T) {
	kit := enginetest.Kit(t)
	if dir, err := Find(kit); err != nil {
		t.Skip(err)
	} else {
		t.Log(dir)
	}
	forward, err := os.ReadFile(forwardFile)
	require.NoError(t, err)
	var networks Networks
	n, release, err := networks.Get(t.Context(), kit, Bridge)
	require.NoError(t, err)
	at := make([]*Attachment, 4)
	var wait sync.WaitGroup
	for i := range at {
		wait.Go(func() {
			a, err := n.Attach(t.Context(), kit.RunID+string(rune('a'+i)))
			if err != nil {
				t.Error(err)
			}
			at[i] = a
		})
	}
	wait.Wait()
	seen := map[any]bool{}
	for _, a := range at {
		if a == nil {
			t.FailNow()
		}
		info, err := os.Stat(a.Path)
		require.NoError(t, err)
		ns, err := os.Readlink(a.Path)
		if err != nil || !strings.HasPrefix(ns, "net:[") || !info.Mode().IsRegular() {
			t.Errorf("%s is %q, %v", a.Path, ns, err)
		}
		if seen[a.Address] || seen[ns] || !n.subnet.Contains(a.Address) {
			t.Errorf("the address %v or the namespace %s is somebody else's, or not of %v", a.Address, ns, n.subnet)
		}
		seen[a.Address], seen[ns] = true, true
	}
	if left := kit.Ledger.Left(); len(left) == 0 || left[0] != (engine.Thing{Kind: engine.KindLink, Name: n.bridge}) || !isBridge(n.bridge) {
		t.Errorf("while it is there the ledger has %v", left)
	}
	for _, a := range at {
		for range 2 {
			if err := a.Detach(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	again, err := n.Attach(t.Context(), kit.RunID+"again")
	require.NoError(t, err)
	if err := again.Detach(t.Context()); err != nil {
		t.Error(err)
	}
	if err := release(t.Context()); err != nil {
		t.Error(err)
	}
	if isBridge(n.bridge) {
		t.Errorf("left behind: %s", n.bridge)
	}
	if now, err := os.ReadFile(forwardFile); err != nil || string(now) != string(forward) {
		t.Errorf("forwarding was %q and is %q, %v", forward, now, err)
	}
}

// attached is a kit whose run has a network with one container in it.
func attached(t *testing.T) (*engine.Kit, *Network, *Attachment) {
	t.Helper()
	kit := enginetest.Kit(t)
	if _, err := Find(kit); err != nil {
		t.Skip(err)
	}
	n, err := newNetwork(t.Context(), kit, Bridge)
	require.NoError(t, err)
	a, err := n.Attach(t.Context(), kit.RunID)
	require.NoError(t, err)
	return kit, n, a
}

// TestLeftover: what a killed run left is found and removed.
func TestLeftover(t *testing.T) {
	kit, n, a := attached(t)
	link := kit.Ledger.Left()[0]
	stranger := *kit
	stranger.RunID = "nosuchid"
	if did, err := Remove(t.Context(), &stranger, link); did || err == nil || !isBridge(n.bridge) {
		t.Errorf("by another run: %v, %v", did, err)
	}
	for _, want := range []bool{true, false} {
		if did, err := Remove(t.Context(), kit, link); did != want || err != nil || isBridge(n.bridge) {
			t.Errorf("removed: %v, %v, want %v", did, err, want)
		}
	}
	if err := a.Detach(context.Background()); err != nil {
		t.Error(err)
	}
	if err := n.close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestRefused: a plug-in's own words come through, and nothing is left.
func TestRefused(t *testing.T) {
	kit := enginetest.Kit(t)
	if _, err := Find(kit); err != nil {
		t.Skip(err)
	}
	n, err := newNetwork(t.Context(), kit, Bridge)
	require.NoError(t, err)
	n.plugins[1].config = []byte(strings.Replace(string(n.plugins[1].config), n.subnet.String(), "10.1.0.0/40", 1))
	if a, err := n.Attach(t.Context(), kit.RunID); err == nil {
		t.Errorf("an address of a broken network: %+v", a)
	} else {
		t.Log(err)
	}
	if err := n.close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	kit := &engine.Kit{Root: true, Getenv: func(string) string { return dir }}
	if _, err := Find(kit); err == nil {
		t.Error("plug-ins in an empty directory")
	}
	for _, name := range needed {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o755))
	}
	if got, err := Find(kit); err != nil || got != dir {
		t.Errorf("%q, %v", got, err)
	}
	kit.Root = false
	if _, err := Find(kit); err == nil {
		t.Error("without root")
	}
}

func isBridge(name string) bool {
	_, err := os.Stat("/sys/class/net/" + name + "/bridge")
	return err == nil
}
