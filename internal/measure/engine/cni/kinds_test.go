package cni

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/forward"
)

// Each plug-in that works here gives two containers addresses at which they
// reach each other, and leaves nothing behind.
func TestKinds(t *testing.T) {
	for _, kind := range Kinds() {
		t.Run(kind, func(t *testing.T) {
			kit := enginetest.Kit(t)
			if _, err := Find(kit); err != nil {
				t.Skip(err)
			}
			before := links(t)
			var networks Networks
			n, release, err := networks.Get(t.Context(), kit, kind)
			require.NoError(t, err)
			if err := n.Try(t.Context()); err != nil {
				t.Logf("%v", err)
				if err := release(t.Context()); err != nil {
					t.Error(err)
				}
				if now := links(t); now != before {
					t.Errorf("left behind: the links were %s and are %s", before, now)
				}
				t.Skip("left nothing behind, and can't be made here: " + err.Error())
			}
			at := two(t, n)
			if at[0].Address == at[1].Address || !n.subnet.Contains(at[0].Address) || !n.subnet.Contains(at[1].Address) {
				t.Errorf("the addresses are %v and %v, expected two of %v", at[0].Address, at[1].Address, n.subnet)
			}
			if n.Facts()["network"] != kind {
				t.Errorf("the facts are %v", n.Facts())
			}
			if err := forward.Try(t.Context(), at[1].Path, at[0].Path, at[0].Address); err != nil {
				t.Errorf("they do not reach each other: %v", err)
			}
			for _, a := range at {
				if err := a.Detach(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if err := release(t.Context()); err != nil {
				t.Error(err)
			}
			if left := kit.Ledger.Left(); len(left) > 0 {
				t.Errorf("the ledger still has %v", left)
			}
			if now := links(t); now != before {
				t.Errorf("left behind: the links were %s and are %s", before, now)
			}
		})
	}
}

func links(t *testing.T) string {
	t.Helper()
	of, err := os.ReadDir("/sys/class/net")
	require.NoError(t, err)
	var names []string
	for _, l := range of {
		if strings.HasPrefix(l.Name(), bridgePrefix) { // others' come and go
			names = append(names, l.Name())
		}
	}
	return strings.Join(names, " ")
}

// A run's links are known by their names, and no other run's.
func TestOwnLink(t *testing.T) {
	for _, kind := range Kinds() {
		link := linkOf("abcd1234", kind)
		if (link == "") != (kind == PTP) || len(link) > 15 {
			t.Errorf("the link of %s is %q, expected at most 15 bytes, and none for ptp", kind, link)
		}
		if link != "" && (!ownLink("abcd1234", link) || ownLink("abcd1235", link)) {
			t.Errorf("%s is not told to be the run's own alone", link)
		}
	}
	if ownLink("abcd1234", "") || ownLink("abcd1234", bridgePrefix+"abcd1234x") {
		t.Error("a name that no kind has counts as the run's own")
	}
	if _, err := Remove(t.Context(), &engine.Kit{RunID: "abcd1234"}, engine.Thing{Kind: engine.KindLink, Name: "eth0"}); err == nil {
		t.Error("eth0 would be removed")
	}
}

// A link of a user's that is named as ours would be is not taken over, and stays.
func TestTakenLink(t *testing.T) {
	kit := enginetest.Kit(t)
	if _, err := Find(kit); err != nil {
		t.Skip(err)
	}
	for _, kind := range []string{Bridge, Macvlan} {
		name := linkOf(kit.RunID, kind)
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		require.NoError(t, err)
		t.Cleanup(func() { _ = unix.Close(fd) })
		if err := addBridge(fd, name); err != nil {
			t.Skip("a bridge can't be made here: ", err)
		}
		t.Cleanup(func() {
			if err := removeBridge(name); err != nil {
				t.Error(err)
			}
		})
		if _, err := newNetwork(t.Context(), kit, kind); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: a link of somebody's was taken for ours: %v", kind, err)
		}
		if _, err := os.Stat("/sys/class/net/" + name); err != nil {
			t.Errorf("a user's link is gone: %v", err)
		}
	}
}
