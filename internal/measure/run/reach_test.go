package run

import (
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/engine/forward"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// bridged is native whose held containers are said to be in two network
// namespaces on a bridge, in turn; or in a sandbox, whose namespace has the
// address and takes nothing.
type bridged struct {
	baseline.Native
	name    string
	peers   kittest.Peers
	sandbox bool
}

func (b bridged) Info() engine.Info {
	i := b.Native.Info()
	i.Name, i.Baseline = b.name, false
	return i
}

func (b bridged) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := b.Native.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return &bridgedEnv{Environment: env, of: b}, nil
}

type bridgedEnv struct {
	engine.Environment
	of   bridged
	held atomic.Int32
}

func (e *bridgedEnv) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	h, err := e.Environment.(engine.Holder).Hold(ctx, task)
	if err != nil {
		return nil, err
	}
	i := int(e.held.Add(1)-1) % 2
	p := engine.Place{Address: e.of.peers.Address[i].String()}
	p.PID, err = strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(e.of.peers.Namespace[i]))))
	return bridgedHeld{h, p}, err
}

type bridgedHeld struct {
	engine.Held
	place engine.Place
}

// Facts say what is found by looking from inside a sandbox.
func (e *bridgedEnv) Facts() map[string]string {
	facts := maps.Clone(e.Environment.Facts())
	if e.of.sandbox {
		facts["kernel"] = "foreign: 4.4.0"
	}
	return facts
}

func (h bridgedHeld) Place() engine.Place { return h.place }

// Where Docker's policy drops what goes over an engine's bridge, the workloads
// that need it are left out before anything is measured, and say so; the others
// in the same environment run. A sandbox is judged by others on the bridge that
// it is on, and where there are none by nobody.
func TestReach(t *testing.T) {
	for name, drops := range map[string]bool{"open": false, "dropped": true} {
		t.Run(name, func(t *testing.T) {
			if !kittest.OwnNetwork(t, "iptables", "busybox") {
				return
			}
			peers, others := kittest.NewPeers(t, "lxcbr0", 1), kittest.NewPeers(t, "virtbr0", 2)
			for _, ns := range others.Namespace {
				kittest.Command(t, "nsenter", "--net="+ns, "iptables", "-P", "INPUT", "DROP")
			}
			if drops {
				for _, c := range []string{"-N DOCKER", "-N DOCKER-USER", "-A FORWARD -j DOCKER-USER", "-P FORWARD DROP"} {
					kittest.Command(t, append([]string{"iptables"}, strings.Fields(c)...)...)
				}
			}
			const metric = "metrics:\n  - {id: answer, title: answer, unit: count, better: higher, what: A number., regexp: 'answer ([0-9.]+)'}\n"
			dir, sum := runFiles(t, []engine.Engine{bridged{name: "lxc", peers: peers}, bridged{name: "sandbox", peers: peers, sandbox: true},
				bridged{name: "virtual", peers: others, sandbox: true}},
				"{cpus: none, memory: none}", "  - engine: lxc\n  - engine: sandbox\n  - engine: virtual\n",
				file(t, "alone", "run: [echo, answer 42]\n"+metric),
				file(t, "two", "roles:\n  server: {serve: [[sleep, '600']], ready: {file: /bin/sh}}\n  client: {run: [echo, 'answer 42', '${server.address}']}\n"+metric))
			rec, err := record.Open(dir)
			require.NoError(t, err)
			ran := results(t, dir)
			for _, env := range []string{"lxc", "sandbox", "virtual"} {
				var works []string
				for _, tr := range ran[env] {
					works = append(works, tr.Workload)
					if tr.Workload == "alone" && !tr.OK() {
						t.Errorf("%s: %+v", env, tr.Failure)
					}
				}
				if want := !drops || env == "virtual"; strings.Contains(strings.Join(works, " "), "two") != want || len(ran[env]) == 0 {
					t.Errorf("%s: %v were run; that two was is to be %v", env, works, want)
				}
			}
			var left []record.Excluded
			for _, x := range rec.Run().Excluded {
				if x.Workload == "two" {
					left = append(left, x)
				}
			}
			if !drops {
				if len(left)+len(sum.Excluded) > 0 {
					t.Errorf("left out: %+v, %+v", left, sum.Excluded)
				}
				return
			}
			if len(left) != 2 {
				t.Fatalf("left out: %+v", left)
			}
			for _, x := range left {
				if x.Kind != study.Unavailable || x.Reason != "packets between containers on lxcbr0 are dropped by the FORWARD policy of Docker" ||
					x.Fix != "iptables -I DOCKER-USER -i lxcbr0 -o lxcbr0 -j ACCEPT" {
					t.Errorf("%+v", x)
				}
			}
			if out, err := exec.Command("sh", "-c", left[0].Fix).CombinedOutput(); err != nil {
				t.Fatalf("what is said to help does not: %v: %s", err, out)
			}
		})
	}
}

// By which ways roles meet: on loopback where they are in one pod.
func TestWaysOf(t *testing.T) {
	server, client := workload.Role{Name: "s"}, workload.Role{Name: "c"}
	pod := func(r workload.Role) workload.Role { r.Pod = "p"; return r }
	host := func(r workload.Role) workload.Role { r.Host = true; return r }
	needs := workload.Needs{Network: true}
	for name, c := range map[string]struct {
		plan workload.Plan
		want ways
	}{
		"alone":           {workload.Plan{Roles: []workload.Role{client}}, ways{}},
		"no need":         {workload.Plan{Roles: []workload.Role{server, client}}, ways{}},
		"two":             {workload.Plan{Needs: needs, Roles: []workload.Role{server, client}}, ways{peers: true}},
		"one pod":         {workload.Plan{Needs: needs, Roles: []workload.Role{pod(server), pod(client)}}, ways{}},
		"from the host":   {workload.Plan{Needs: needs, Roles: []workload.Role{server, host(client)}}, ways{host: true}},
		"pod and another": {workload.Plan{Needs: needs, Roles: []workload.Role{pod(server), client}}, ways{peers: true}},
	} {
		if got := waysOf(&c.plan); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Where the plan is fixed already, a trial fails at once.
func TestUnreached(t *testing.T) {
	two := &workload.Plan{Needs: workload.Needs{Network: true}, Roles: make([]workload.Role, 2)}
	shut := &engine.Error{Class: record.Unavailable, Text: "dropped"}
	if f := unreached(&openEnv{reach: &reach{peers: shut}}, two); f == nil || f.Class != record.Unavailable || f.Text != "dropped" {
		t.Errorf("%+v", f)
	}
	for _, r := range []*reach{nil, {}, {host: shut}} {
		if f := unreached(&openEnv{reach: r}, two); f != nil {
			t.Errorf("%+v: %+v", r, f)
		}
	}
}

// The rule of a run that was killed goes with clean; the user's policy, and a
// rule that only resembles it, stay.
func TestCleanRule(t *testing.T) {
	if !kittest.OwnNetwork(t, "iptables") {
		return
	}
	o := cleaning(t, newHolder("none"))
	id := leave(t, o.State)
	for _, c := range []string{"-P FORWARD DROP", "-A FORWARD -i plm" + id + " -o plm" + id + " -j ACCEPT"} {
		kittest.Command(t, append([]string{"iptables"}, strings.Fields(c)...)...)
	}
	before := kittest.Command(t, "iptables", "-S")
	l, err := OpenLedger(filepath.Join(o.State.RunDir(id), ledgerFile))
	require.NoError(t, err)
	kit := &engine.Kit{RunID: id, Root: true, LookPath: exec.LookPath, Ledger: l}
	if _, err := forward.Let(t.Context(), kit, "plm"+id); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, l.Close())
	if kittest.Command(t, "iptables", "-S") == before {
		t.Fatal("there is no rule to clean")
	}
	c, err := Clean(t.Context(), o, false)
	if err != nil || len(c.Removed) != 1 || !strings.HasPrefix(c.Removed[0], "rule plm"+id) || len(c.Kept) > 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if now := kittest.Command(t, "iptables", "-S"); now != before {
		t.Errorf("the packet filter is\n%s\nand was\n%s", now, before)
	}
}
