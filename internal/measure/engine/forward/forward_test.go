package forward_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/engine/kittest"
)

const runID = "abcd1234"

// ours is a bridge of that run.
const ours = "plm" + runID

func kit() (*engine.Kit, *kittest.Ledger) {
	l := &kittest.Ledger{}
	return &engine.Kit{RunID: runID, Root: true, LookPath: exec.LookPath, Getenv: os.Getenv, Ledger: l}, l
}

// try connects from the second to the first. What is to fail gets a moment
// only: no time makes a dropped packet arrive.
func try(t *testing.T, p kittest.Peers, passes bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if !passes {
		time.AfterFunc(300*time.Millisecond, cancel)
	}
	err := forward.Try(ctx, p.Namespace[1], p.Namespace[0], p.Address[0])
	if (err == nil) != passes || errors.Is(err, forward.ErrUntried) {
		t.Fatalf("from %s to %s: %v; want it to pass: %v", p.Address[1], p.Address[0], err, passes)
	}
}

// states are ways in which a machine comes to drop.
var states = []struct {
	name, program string
	drop          []string // commands
	who           string   // is to blame
}{
	{"Docker", "iptables-nft", []string{"iptables-nft -N DOCKER", "iptables-nft -N DOCKER-USER", "iptables-nft -A FORWARD -j DOCKER-USER", "iptables-nft -P FORWARD DROP"},
		"the FORWARD policy of Docker"},
	{"legacy", "iptables-legacy", []string{"iptables-legacy -P FORWARD DROP"}, "the packet filter's FORWARD policy"},
	{"both backends", "iptables-legacy", []string{"iptables-legacy -P FORWARD DROP", "iptables-nft -P FORWARD DROP"}, "the packet filter's FORWARD policy"},
	{"last rule", "iptables", []string{"iptables -A FORWARD -j REJECT --reject-with icmp-host-prohibited"}, "the packet filter's rule -A FORWARD -j REJECT --reject-with icmp-host-prohibited"},
	{"nft", "nft", []string{"nft add table inet own", "nft add chain inet own ahead { type filter hook forward priority 0 ; policy drop ; }"},
		"the policy of the chain inet own ahead of nftables"},
	{"iptables' table by nft", "nft", []string{"nft add table ip filter", "nft add chain ip filter FORWARD { type filter hook forward priority 10 ; policy drop ; }"},
		"the policy of the chain ip filter FORWARD of nftables"},
}

// listing is all that the packet filter has.
func listing(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	for _, argv := range [][]string{{"iptables-nft", "-S"}, {"iptables-legacy", "-S"}, {"nft", "--stateless", "list", "ruleset"}} {
		out, _ := exec.Command(argv[0], argv[1:]...).Output() // the one that is not there says nothing
		text.Write(out)
	}
	return text.String()
}

// Where bridged packets are dropped those of a bridge of ours pass, and nobody
// else's do; the packet filter is afterwards what it was.
func TestLet(t *testing.T) {
	for _, s := range states {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if !kittest.OwnNetwork(t, s.program) {
				return
			}
			own, other := kittest.NewPeers(t, ours, 1), kittest.NewPeers(t, "theirs0", 2)
			try(t, own, true)
			for _, c := range s.drop {
				kittest.Command(t, strings.Fields(c)...)
			}
			try(t, own, false)
			before := listing(t)
			kit, ledger := kit()
			if who, fix := forward.Blame(t.Context(), kit, "theirs0"); who != s.who || !strings.Contains(fix, "theirs0") {
				t.Errorf("to blame is %q, and what would help is %q; want %q", who, fix, s.who)
			} else {
				kittest.Command(t, strings.Fields(fix)...)
				if !strings.HasPrefix(s.name, "both") { // where two drop, the first is told
					try(t, other, true)
				}
				kittest.Command(t, strings.Fields(undo(fix))...)
			}
			if listing(t) != before {
				t.Fatalf("the test did not put it back:\n%s\nwas:\n%s", listing(t), before)
			}

			before = listing(t)
			p, err := forward.Let(t.Context(), kit, ours)
			require.NoError(t, err)
			try(t, own, true)
			try(t, other, false)
			if p.Facts()["packet-filter"] == "" || len(ledger.Left()) == 0 {
				t.Errorf("a rule was made, the facts are %v and the ledger has %v", p.Facts(), ledger.Left())
			}
			for range 2 {
				if err := p.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if after := listing(t); after != before {
				t.Errorf("the packet filter is\n%s\nand was\n%s", after, before)
			}
			if left := ledger.Left(); len(left) > 0 {
				t.Errorf("the ledger still has %v", left)
			}
		})
	}
}

// undo is the opposite of what Blame advises.
func undo(fix string) string {
	if strings.HasPrefix(fix, "nft ") {
		return strings.Join(slices.Concat([]string{"nft", "flush"}, []string{"chain"}, strings.Fields(fix)[3:6]), " ")
	}
	return strings.Replace(fix, " -I ", " -D ", 1)
}

// What a killed run left is found by its id and removed; rules that resemble it
// stay.
func TestLeftovers(t *testing.T) {
	for _, program := range []string{"iptables-nft", "iptables-legacy", "nft"} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			if !kittest.OwnNetwork(t, program) {
				return
			}
			if program == "nft" {
				kittest.Command(t, strings.Fields("nft add table inet own")...)
				kittest.Command(t, strings.Fields("nft add chain inet own ahead { type filter hook forward priority 0 ; policy drop ; }")...)
				kittest.Command(t, strings.Fields(`nft add rule inet own ahead iifname theirs accept comment "plimsoll-abcd12345"`)...)
			} else {
				kittest.Command(t, program, "-P", "FORWARD", "DROP")
				for _, theirs := range []string{
					"-i plmabcd1234 -o plmabcd1234 -j ACCEPT",
					"-i plmabcd1234 -o plmabcd1234 -m comment --comment plimsoll-abcd1234 -j DROP",
					"-i plmabcd1234 -o plmabcd1234 -m comment --comment plimsoll-abcd12345 -j ACCEPT",
					"-i plmabcd1234 -o docker0 -m comment --comment plimsoll-abcd1234 -j ACCEPT",
					"-i plmother123 -o plmother123 -m comment --comment plimsoll-other123 -j ACCEPT",
				} {
					kittest.Command(t, append([]string{program, "-A", "FORWARD"}, strings.Fields(theirs)...)...)
				}
			}
			before := listing(t)
			kit, ledger := kit()
			for range 2 { // as after two kills
				if _, err := forward.Let(t.Context(), kit, ours); err != nil {
					t.Fatal(err)
				}
			}
			left := ledger.Left()
			if listing(t) == before || len(left) != 1 {
				t.Fatalf("no rule was made, or the ledger has another: %v", left)
			}
			// What an entry of another bridge, or another run's ledger, would remove.
			stranger, run := left[0], *kit
			stranger.Name, run.RunID = "plmnobody1", "nobody12"
			if did, err := forward.Remove(t.Context(), kit, stranger); did || err != nil {
				t.Errorf("of a bridge without rules: %v, %v", did, err)
			}
			if did, err := forward.Remove(t.Context(), &run, left[0]); did || err != nil {
				t.Errorf("of another run: %v, %v", did, err)
			}
			for _, want := range []bool{true, false} {
				if did, err := forward.Remove(t.Context(), kit, left[0]); did != want || err != nil {
					t.Errorf("removed: %v, %v, want %v", did, err, want)
				}
			}
			if after := listing(t); after != before {
				t.Errorf("the packet filter is\n%s\nand was\n%s", after, before)
			}
			run = *kit
			run.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
			gone := left[0]
			gone.At = "iptables-of-tomorrow"
			if _, err := forward.Remove(t.Context(), &run, gone); err == nil {
				t.Error("a rule is gone that nobody can look for")
			}
		})
	}
}

// Where nothing can drop a bridge's packets, nothing is done and nobody blamed.
func TestNothingToDo(t *testing.T) {
	const filterSwitch = "/proc/sys/net/bridge/bridge-nf-call-iptables"
	for name, prepare := range map[string]func(t *testing.T){
		"nothing is forbidden": func(*testing.T) {},
		"bridge netfilter is off": func(t *testing.T) {
			kittest.Command(t, "iptables", "-P", "FORWARD", "DROP")
			require.NoError(t, os.WriteFile(filterSwitch, []byte("0"), 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !kittest.OwnNetwork(t, "iptables") {
				return
			}
			prepare(t)
			tables, _ := os.ReadFile("/proc/net/ip_tables_names")
			kit, ledger := kit()
			p, err := forward.Let(t.Context(), kit, ours)
			if who, fix := forward.Blame(t.Context(), kit, ours); err != nil || p.Facts() != nil || len(ledger.Left()) > 0 || who+fix != "" {
				t.Errorf("%v, facts %v, ledger %v, to blame %q, %q", err, p.Facts(), ledger.Left(), who, fix)
			}
			if now, _ := os.ReadFile("/proc/net/ip_tables_names"); string(now) != string(tables) {
				t.Errorf("tables were made by looking: %q, before %q", now, tables)
			}
			if rules := kittest.Command(t, "iptables", "-S", "FORWARD"); strings.Contains(rules, ours) {
				t.Error(rules)
			}
		})
	}
}

// A namespace that can't be entered, or in which the address is not, is no
// proof that packets are dropped.
func TestUntried(t *testing.T) {
	if !kittest.OwnNetwork(t) {
		return
	}
	p := kittest.NewPeers(t, "br0", 1)
	for name, err := range map[string]error{
		"no such namespace":        forward.Try(t.Context(), "", "/proc/self/no-such", p.Address[0]),
		"no such namespace, first": forward.Try(t.Context(), "/proc/self/no-such", p.Namespace[0], p.Address[0]),
		"another's address":        forward.Try(t.Context(), p.Namespace[1], p.Namespace[0], p.Address[1]),
	} {
		if !errors.Is(err, forward.ErrUntried) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := forward.Try(t.Context(), "", p.Namespace[0], p.Address[0]); err != nil {
		t.Errorf("from the host: %v", err)
	}
	if got := forward.Bridge(p.Address[0]); got != "br0" {
		t.Errorf("the bridge of %s is %q", p.Address[0], got)
	}
}

// firewalld refuses by a rule of its own, in a chain that accepts what it passes
// over: it is blamed, and left as it is.
func TestFirewalld(t *testing.T) {
	if !kittest.OwnNetwork(t, "nft") {
		return
	}
	for _, c := range []string{"add table inet firewalld", "add chain inet firewalld filter_FORWARD { type filter hook forward priority 10 ; policy accept ; }",
		"add rule inet firewalld filter_FORWARD reject with icmpx admin-prohibited"} {
		kittest.Command(t, append([]string{"nft"}, strings.Fields(c)...)...)
	}
	p := kittest.NewPeers(t, ours, 1)
	try(t, p, false)
	before := listing(t)
	kit, ledger := kit()
	if _, err := forward.Let(t.Context(), kit, ours); err != nil || listing(t) != before || len(ledger.Left()) > 0 {
		t.Errorf("%v, the ledger has %v, and the filter is %s", err, ledger.Left(), listing(t))
	}
	if who, fix := forward.Blame(t.Context(), kit, ours); who != "firewalld" || fix != "firewall-cmd --zone=trusted --add-interface="+ours {
		t.Errorf("%q, %q", who, fix)
	}
}
