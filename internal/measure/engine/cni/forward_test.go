package cni

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/engine/kittest"
)

// dropped makes the state of a machine on which Docker has switched forwarding on.
func dropped(t *testing.T) (rules string) {
	t.Helper()
	kittest.Command(t, "iptables", "-N", "DOCKER")
	kittest.Command(t, "iptables", "-P", "FORWARD", "DROP")
	return kittest.Command(t, "iptables", "-S")
}

// two attaches two containers.
func two(t *testing.T, n *Network) (at [2]*Attachment) {
	t.Helper()
	for i := range at {
		a, err := n.Attach(t.Context(), n.kit.RunID+string(rune('a'+i)))
		require.NoError(t, err)
		at[i] = a
	}
	return at
}

// Where a packet filter drops what is forwarded, and sees what is bridged,
// containers of a run reach each other nevertheless, bridged or routed.
func TestPacketFilter(t *testing.T)         { letThrough(t, Bridge, "bridge") }
func TestPacketFilterOfRouted(t *testing.T) { letThrough(t, PTP, "network") }

func letThrough(t *testing.T, kind, whose string) {
	if !kittest.OwnNetwork(t, "iptables") {
		return
	}
	kit := enginetest.Kit(t)
	if _, err := Find(kit); err != nil {
		t.Skip(err)
	}
	rules := dropped(t)
	n, err := newNetwork(t.Context(), kit, kind)
	require.NoError(t, err)
	at := two(t, n)
	if err := forward.Try(t.Context(), at[1].Path, at[0].Path, at[0].Address); err != nil {
		t.Errorf("from one container to another: %v", err)
	}
	if !strings.HasPrefix(n.Facts()["packet-filter"], "a rule for the run's "+whose+" in ") {
		t.Errorf("the facts do not tell of the rule: %v", n.Facts())
	}
	for _, a := range at {
		if err := a.Detach(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := n.close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := kit.Ledger.Left(); len(left) > 0 {
		t.Errorf("the ledger still has %v", left)
	}
	if now := kittest.Command(t, "iptables", "-S"); now != rules {
		t.Errorf("the packet filter is\n%s\nand was\n%s", now, rules)
	}
}

// A run that is killed leaves its rule and its bridge; both are found by its id.
func TestPacketFilterAfterAKill(t *testing.T) {
	const runID, dying = "dead0123", "PLIMSOLL_TEST_DYING"
	if os.Getenv(dying) != "" {
		n, err := newNetwork(t.Context(), &engine.Kit{RunID: runID, Dir: os.Getenv(dying), Root: true,
			LookPath: exec.LookPath, Getenv: os.Getenv, Ledger: &kittest.Ledger{}}, Bridge)
		require.NoError(t, err)
		two(t, n)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if !kittest.OwnNetwork(t, "iptables") {
		return
	}
	kit := enginetest.Kit(t)
	if _, err := Find(kit); err != nil {
		t.Skip(err)
	}
	kit.RunID = runID
	rules, links := dropped(t), kittest.Command(t, "ip", "-o", "link")
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), dying+"="+kit.Dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was not killed: %v\n%s", err, out)
	}
	if now := kittest.Command(t, "iptables", "-S"); !strings.Contains(now, bridgePrefix+runID) {
		t.Fatalf("it left no rule behind: %s", now)
	}
	// Its ledger named both.
	rule := engine.Thing{Kind: engine.KindRule, Name: bridgePrefix + runID, At: "iptables-" + backend(t)}
	if did, err := forward.Remove(t.Context(), kit, rule); !did || err != nil {
		t.Errorf("the rule: %v, %v", did, err)
	}
	if did, err := Remove(t.Context(), kit, engine.Thing{Kind: engine.KindLink, Name: bridgePrefix + runID}); !did || err != nil {
		t.Errorf("the bridge: %v, %v", did, err)
	}
	if now := kittest.Command(t, "iptables", "-S"); now != rules {
		t.Errorf("the packet filter is\n%s\nand was\n%s", now, rules)
	}
	// The kernel takes the namespaces away, and with them the ends on the bridge,
	// a while after their last process has ended.
	now := ""
	for range 1000 {
		if now = kittest.Command(t, "ip", "-o", "link"); now == links {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the links are\n%s\nand were\n%s", now, links)
}

// backend is that of the machine's iptables.
func backend(t *testing.T) string {
	t.Helper()
	if strings.Contains(kittest.Command(t, "iptables", "-V"), "nf_tables") {
		return "nft"
	}
	return "legacy"
}
