package study

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// taken is a market in which something can be taken away.
func taken() *Catalogue {
	c := catalogue()
	without := func(name string) Mechanism {
		return Mechanism{Name: name, Factor: "without", From: defaultLevel, To: name, Title: "the " + name}
	}
	runtime := Mechanism{Name: "runtime", Factor: "runtime", From: "runc", To: "crun"}
	network := Mechanism{Name: "network", Factor: "network", From: defaultLevel, To: "none"}
	namespace := Mechanism{Name: "network-namespace", Factor: "network", From: "none", To: "host"}
	client := Mechanism{Name: "client", Factor: "client", From: "cli", To: "api"}
	give := func(name, below string, ms ...Mechanism) {
		e := c.engine(name)
		e.Mechanisms, e.Below = ms, below
		e.Levels["without"] = []string{defaultLevel}
		for _, m := range ms {
			if m.Factor == "without" {
				e.Levels["without"] = append(e.Levels["without"], m.To)
			}
		}
	}
	give("docker", "oci", client, network, without("masks"), without("pid"), namespace, runtime)
	give("oci", "", Mechanism{Name: "client", Factor: "client", From: "steps", To: "run"}, without("masks"), without("pid"), without("mounts"), runtime, without("cgroup"))
	c.Rules = append(c.Rules, Rule{When: map[string][]string{"runtime": {"runc"}, "without": {"cgroup"}}, Because: "Only crun can."},
		Rule{When: map[string][]string{"engine": {"docker"}, "without": {"masks+pid"}}, Because: "Not both."})
	return c
}

func ablation(t *testing.T, text string, usable func(string, map[string]string) (bool, string, string)) (*Plan, record.Ablation) {
	t.Helper()
	return ablationIn(t, taken(), text, usable)
}

func ablationIn(t *testing.T, cat *Catalogue, text string, usable func(string, map[string]string) (bool, string, string)) (*Plan, record.Ablation) {
	t.Helper()
	st, err := Read(Source{Path: "test.yaml", Data: []byte("plimsoll: 1\nname: x\nprotocol: {seed: 7}\nworkloads: [hello]\nenvironments:\n" + text)}, cat)
	require.NoError(t, err)
	p, err := Expand(st, cat, Options{Usable: usable})
	require.NoError(t, err)
	if len(p.Study.Ablations) != 1 {
		t.Fatalf("%+v", p.Study.Ablations)
	}
	return p, p.Study.Ablations[0]
}

func TestAblation(t *testing.T) {
	p, a := ablation(t, "  - {engine: docker, ablate: all}\n", nil)
	if len(p.Excluded) > 0 {
		t.Errorf("asked for what can't be: %+v", p.Excluded)
	}
	if a.Base != "docker/runc/cli" || !slices.Equal(a.Again, []string{"docker/runc/cli@again", "docker/runc/cli@again-2"}) {
		t.Errorf("base %s, again %s", a.Base, a.Again)
	}
	for _, x := range []struct{ mechanism, with, without, given, after, missing string }{
		{"client", "docker/runc/cli", "docker/runc/api", "", "docker/runc/api", ""},
		{"network", "docker/runc/cli", "docker/runc/cli/network-none", "", "docker/runc/api/network-none", ""},
		{"masks", "docker/runc/cli", "docker/runc/cli/without-masks", "", "docker/runc/api/network-none/without-masks", ""},
		{"pid", "docker/runc/cli", "docker/runc/cli/without-pid", "", "", ""}, // a rule is against both
		{"network-namespace", "docker/runc/cli/network-none", "docker/runc/cli/network-host", "network", "docker/runc/api/network-host/without-masks", ""},
		{"runtime", "docker/runc/cli", "docker/crun/cli", "", "docker/crun/api/network-host/without-masks", ""},
	} {
		i := slices.IndexFunc(a.Steps, func(s record.AblationStep) bool { return s.Mechanism == x.mechanism })
		if i < 0 {
			t.Errorf("no step %s", x.mechanism)
			continue
		}
		if s := a.Steps[i]; s.With != x.with || s.Without != x.without || s.Given != x.given || s.After != x.after || s.Missing != x.missing {
			t.Errorf("%s: %+v", x.mechanism, s)
		}
	}
	// The runtime below is without what is gone above it, and then without its own.
	if len(a.Below) != 2 || a.Below[0].Env != "oci/crun/run/without-masks" || a.Below[1].Env != "floor" {
		t.Fatalf("below: %+v", a.Below)
	}
	var own []string
	for _, s := range a.Below[0].Steps {
		own = append(own, s.Mechanism)
	}
	if got := strings.Join(own, " "); got != "pid mounts cgroup" {
		t.Errorf("only the runtime can do without %s", got)
	}
	if len(a.HeldOut) != heldOut {
		t.Errorf("held out: %+v", a.HeldOut)
	}
	ids := envIDs(p)
	for _, h := range a.HeldOut {
		if !slices.Contains(ids, h.Env) || len(h.Mechanisms) != heldOutOf || slices.Contains(h.Mechanisms, "masks") && slices.Contains(h.Mechanisms, "pid") {
			t.Errorf("held out: %+v", h)
		}
	}
	// The same seed holds out the same.
	if _, b := ablation(t, "  - {engine: docker, ablate: all}\n", nil); b.HeldOut[0].Env != a.HeldOut[0].Env {
		t.Errorf("%v, and with the same seed %v", a.HeldOut[0], b.HeldOut[0])
	}
	// Of two mechanisms both are predicted, by the environment that ends the chain.
	if _, two := ablation(t, "  - {engine: docker, ablate: [client, masks]}\n", nil); len(two.HeldOut) != 1 || two.HeldOut[0].Env != two.Steps[1].After || len(two.HeldOut[0].Mechanisms) != 2 {
		t.Errorf("held out: %+v of %+v", two.HeldOut, two.Steps)
	}
	// Of three all at once are, too, and pairs besides, none of which a step has already.
	_, three := ablation(t, "  - {engine: docker, ablate: [client, network, masks]}\n", nil)
	of := map[int]int{}
	for _, h := range three.HeldOut {
		of[len(h.Mechanisms)]++
		if len(h.Mechanisms) == 3 && h.Env != three.Steps[2].After {
			t.Errorf("held out: %+v of %+v", h, three.Steps)
		}
	}
	if of[3] != 1 || of[2] != 2 || len(three.HeldOut) != 3 {
		t.Errorf("held out: %+v", three.HeldOut)
	}
	// A run goes on from its record alone.
	var run record.Run
	p.Record(&run)
	if _, err := FromRun(&run); err != nil {
		t.Error(err)
	}
}

// What is named stays as it is named, and what can't be had here is said.
func TestAblationHere(t *testing.T) {
	usable := func(engine string, levels map[string]string) (bool, string, string) {
		if levels["runtime"] == "crun" {
			return false, "it is not installed", ""
		}
		return true, "", ""
	}
	p, a := ablation(t, "  - {engine: docker, client: api, network: none, ablate: [client, network, network-namespace, runtime]}\n", usable)
	if a.Base != "docker/runc/network-none" && a.Base != "docker/network-none/runc" && a.Base != "docker/runc/api/network-none" {
		t.Errorf("base %s", a.Base)
	}
	if len(a.Steps) != 2 || a.Steps[0].Mechanism != "network-namespace" || a.Steps[0].Given != "" || a.Steps[1].Missing != "it is not installed" || a.Steps[1].After != "" {
		t.Errorf("%+v", a.Steps)
	}
	if len(a.Below) == 0 || len(a.Below[0].Steps) != 0 {
		t.Errorf("nothing of the runtime's was asked for: %+v", a.Below)
	}
	for _, e := range p.Environments {
		if e.Levels["runtime"] == "crun" {
			t.Errorf("%s can't be had", e.ID)
		}
	}
}

// What is added is held against the base, or against the level that it is held
// against, and is not part of the chain.
func TestAdditions(t *testing.T) {
	cat := taken()
	e := cat.engine("docker")
	e.Mechanisms = append(e.Mechanisms, Mechanism{Name: "init", Factor: "with", From: defaultLevel, To: "init", Adds: true},
		Mechanism{Name: "tty", Factor: "with", From: defaultLevel, To: "tty", Adds: true}, Mechanism{Name: "copies", Factor: "storage", From: "overlay2", To: "vfs", Adds: true})
	e.Levels["with"] = []string{defaultLevel, "init", "tty"}
	e.Levels["storage"] = []string{defaultLevel, "overlay2", "vfs"}
	a := ablationOf(t, cat, "  - {engine: docker, ablate: [client, additions]}\n")
	if len(a.Steps) != 1 || len(a.Added) != 3 {
		t.Fatalf("%+v, %+v", a.Steps, a.Added)
	}
	for i, want := range []struct{ with, without string }{{"docker/runc/cli/with-init", "docker/runc/cli"}, {"docker/runc/cli/with-tty", "docker/runc/cli"}, {"docker/runc/vfs/cli", "docker/runc/overlay2/cli"}} {
		if s := a.Added[i]; s.With != want.with || s.Without != want.without {
			t.Errorf("%+v", s)
		}
	}
	both := 0
	for _, h := range a.HeldOut {
		if slices.Contains(h.Mechanisms, "copies") {
			t.Errorf("%+v is not held against the base", h)
		}
		if strings.Contains(h.Env, "with-") && len(h.Mechanisms) == 2 {
			both++
		}
	}
	if both == 0 {
		t.Errorf("held out: %+v", a.HeldOut)
	}
	// Only what is added: there is no chain, and nothing below.
	if a := ablationOf(t, cat, "  - {engine: docker, ablate: [init]}\n"); len(a.Steps)+len(a.Below) != 0 || len(a.Added) != 1 {
		t.Errorf("%+v", a)
	}
	// All that is taken away is nothing that is added.
	if a := ablationOf(t, cat, "  - {engine: docker, ablate: all}\n"); len(a.Added) != 0 {
		t.Errorf("%+v", a.Added)
	}
}

func ablationOf(t *testing.T, cat *Catalogue, text string) record.Ablation {
	t.Helper()
	_, a := ablationIn(t, cat, text, nil)
	return a
}

// What can't run without a network exchanges the engine's for the host's at once, and
// ends at a program without a container. What must keep running has no client that
// stays with it, and ends where no baseline can do that.
func TestAblationOfWorkload(t *testing.T) {
	cat := taken()
	cat.Workloads = append(cat.Workloads,
		WorkloadInfo{Name: "messages", NeedsFiles: true, Needs: func(map[string]string) Needs { return Needs{Network: true} }, Metrics: []record.Metric{{ID: "latency"}, {ID: "time"}}},
		WorkloadInfo{Name: "ramp", Parameters: map[string][]string{"mode": {"detached", "background"}}, Metrics: []record.Metric{{ID: "footprint"}}})
	cat.engine("floor").Bare = true
	oci := cat.engine("oci")
	oci.Mechanisms[0].Foreground = true
	oci.Mechanisms = append(oci.Mechanisms, Mechanism{Name: "network-namespace", Factor: "network", From: "none", To: "host"})
	of := func(workload, asked string) (*Plan, record.Ablation) {
		st, err := Read(Source{Path: "test.yaml", Data: []byte("plimsoll: 1\nname: x\nprotocol: {seed: 7}\nworkloads: [" + workload + "]\nenvironments: [{engine: docker, ablate: " + asked + "}]\n")}, cat)
		require.NoError(t, err)
		p, err := Expand(st, cat, Options{})
		require.NoError(t, err)
		return p, p.Study.Ablations[0]
	}
	_, a := of("messages", "[network, runtime]") // the second of the two is not asked for
	if s := a.Steps[0]; s.Mechanism != "network" || s.Without != "docker/runc/cli/network-host" || s.After != "docker/runc/cli/network-host" || s.Missing != "" {
		t.Errorf("%+v", s)
	}
	p, a := of("messages", "all")
	var names []string
	for _, s := range a.Steps {
		names = append(names, s.Mechanism)
		if s.Mechanism == "network" && (s.Without != "docker/runc/cli/network-host" || s.After != "docker/runc/api/network-host" || s.Given != "") {
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(names, " "); got != "client network masks pid runtime" {
		t.Errorf("taken away: %s", got)
	}
	if n := len(a.Below); n != 2 || a.Below[0].Engine != "oci" || a.Below[1].Env != "native" {
		t.Errorf("below: %+v", a.Below)
	}
	for _, x := range p.Excluded {
		if x.Engine != "floor" && x.Engine != "host" {
			t.Errorf("asked for what can't be: %+v", x)
		}
	}
	p, a = of("ramp", "all")
	if n := len(a.Below); n != 1 || a.Below[0].Engine != "oci" {
		t.Errorf("below: %+v", a.Below)
	}
	for _, e := range p.Environments {
		if e.Engine == "oci" && e.Levels["client"] == "run" {
			t.Errorf("%s can hold no container by itself", e.ID)
		}
	}
}

func TestBadAblation(t *testing.T) {
	for text, want := range map[string]string{
		"{engine: docker, ablate: [seccom]}":                 `unknown mechanism "seccom"`,
		"{engine: native, ablate: all}":                      "nothing can be taken away from native",
		"{engine: docker, ablate: all, client: [api, cli]}":  "client has 2 levels together with ablate",
		"{engine: docker, ablate: all, as: [a, b]}":          "as together with ablate",
		"{engine: docker, without: pid+nonesuch}":            `unknown without "nonesuch"`,
		"{engine: docker, without: masks, ablate: [client]}": "",
	} {
		_, err := Read(Source{Path: "test.yaml", Data: []byte("plimsoll: 1\nname: x\nworkloads: [hello]\nenvironments: [" + text + "]\n")}, taken())
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// TestAblationBeside: a setting of the daemon is taken away between two daemons of ours,
// beside the chain, if it is asked for, and else named.
func TestAblationBeside(t *testing.T) {
	c := taken()
	e := c.engine("docker")
	e.Mechanisms = append(e.Mechanisms, Mechanism{Name: "filter", Factor: "without", From: defaultLevel, To: "filter", Adds: true, Beside: "own+port"})
	e.Levels["without"] = append(e.Levels["without"], "filter")
	e.Levels["with"] = []string{defaultLevel, "own", "port"}
	_, a := ablationIn(t, c, "  - {engine: docker, ablate: [all]}\n", nil)
	i := slices.IndexFunc(a.Steps, func(s record.AblationStep) bool { return s.Mechanism == "filter" })
	if i < 0 || a.Steps[i].With != "" || a.Steps[i].After != "" || !strings.Contains(a.Steps[i].Missing, "--mechanism filter") || len(a.Added) > 0 {
		t.Errorf("not asked for: %+v, added %+v", a.Steps, a.Added)
	}
	_, a = ablationIn(t, c, "  - {engine: docker, ablate: [network, filter]}\n", nil)
	if len(a.Steps) != 1 || len(a.Added) != 1 || a.Added[0].With != "docker/runc/cli/with-own+port" || a.Added[0].Without != "docker/runc/cli/without-filter/with-own+port" || a.Added[0].Missing != "" {
		t.Errorf("asked for: %+v, added %+v", a.Steps, a.Added)
	}
}

// TestAblationTuned: a machine that is tuned, and limits, stay so down to the floor.
func TestAblationTuned(t *testing.T) {
	c := taken()
	for i := range c.Engines {
		e := &c.Engines[i]
		if e.Levels == nil {
			e.Levels = map[string][]string{}
		}
		for factor, level := range map[string]string{tunedFactor: "rcu-expedited", "cpu-limit": defaultLevel} {
			e.Levels[factor] = []string{defaultLevel, level}
		}
	}
	_, a := ablationIn(t, c, "  - {engine: docker, ablate: [masks], tuned: rcu-expedited, cpu-limit: 0.5}\n", nil)
	if len(a.Below) != 2 {
		t.Fatalf("below: %+v", a.Below)
	}
	for _, b := range a.Below {
		if !strings.Contains(b.Env, "rcu-expedited") || !strings.Contains(b.Env, "0.5") {
			t.Errorf("%s stands below %s", b.Env, a.Base)
		}
	}
}

// TestAblationByName: what puts its user's own at risk is taken away in the chain, if its
// name asks for it, and else only named.
func TestAblationByName(t *testing.T) {
	c := taken()
	e := c.engine("docker")
	e.Mechanisms = append(e.Mechanisms, Mechanism{Name: "sync", Factor: "without", From: defaultLevel, To: "sync", Price: "all may be lost", ByName: true})
	e.Levels["without"] = append(e.Levels["without"], "sync")
	for ablate, want := range map[string]record.AblationStep{
		"all, additions": {Mechanism: "sync", Price: "all may be lost", Missing: "only --mechanism sync asks for it: all may be lost"},
		"sync":           {Mechanism: "sync", Price: "all may be lost", With: "docker/runc/cli", Without: "docker/runc/cli/without-sync", After: "docker/runc/cli/without-sync"},
		"network":        {},
	} {
		_, a := ablationIn(t, c, "  - {engine: docker, ablate: ["+ablate+"]}\n", nil)
		var got record.AblationStep
		if i := slices.IndexFunc(a.Steps, func(s record.AblationStep) bool { return s.Mechanism == "sync" }); i >= 0 {
			got = a.Steps[i]
		}
		if got != want {
			t.Errorf("%s: %+v", ablate, got)
		}
	}
}
