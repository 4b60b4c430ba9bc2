package hosts

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// read sets the runs beside each other.
func read(t *testing.T, runs []recordtest.Spec, o Options) *Hosts {
	t.Helper()
	g := NewGathering(o)
	for _, s := range runs {
		if err := g.Add(analyzetest.Run(t, s), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	h, err := g.Hosts()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *Hosts) row(t *testing.T, env string) *Row {
	t.Helper()
	for i := range h.Tables[0].Rows {
		if h.Tables[0].Rows[i].Env == env {
			return &h.Tables[0].Rows[i]
		}
	}
	t.Fatalf("no row %s", env)
	return nil
}

// The interaction that was put in is found, and the one that was not is not.
func TestInteraction(t *testing.T) {
	h := read(t, recordtest.Fleet(6, 12), Options{Metric: "startup"})
	crun, runc := h.row(t, "crun"), h.row(t, "runc")
	if crun.Holds != Everywhere || crun.Differ.Found || crun.Above != 6 {
		t.Errorf("crun takes 12 times as long on all hosts: %+v %+v", crun, crun.Differ)
	}
	if !runc.Differ.Found || runc.Differ.P > 1e-6 {
		t.Errorf("runc takes 20 times as long on some hosts and 30 on others: %+v", runc.Differ)
	}
	for i, a := range runc.Hosts {
		want := []float64{30, 20}[i%2]
		if math.Abs(a.Value/want-1) > 0.1 || a.Blocks != 12 {
			t.Errorf("runc on host %d: %+v, want %v", i, a, want)
		}
	}
	p := crun.Pooled
	if p == nil || *p.Ratio.Lo > 12 || *p.Ratio.Hi < 12 || p.Next != nil || p.Hosts != 6 || p.Method != RandomEffects {
		t.Fatalf("crun in general: %+v", p)
	}
	if runc.Pooled.Spread.Value < 0.15 || runc.Pooled.Spread.Value > 0.35 || runc.Pooled.I2 < 0.9 || *runc.Pooled.Ratio.Hi / *runc.Pooled.Ratio.Lo < 1.3 {
		t.Errorf("runc in general: %+v", runc.Pooled)
	}
	// Hosts differ by up to two in speed, and runc from crun by two: nothing of that is
	// in the ratios, and all of it in the spread.
	s := h.Tables[0].Spread
	if s == nil || s.Host < 0.15 || s.Environment < 0.4 || s.Both < 0.05 || s.Block > 0.1 {
		t.Errorf("spread: %+v", s)
	}
}

// Below five hosts none is pooled; from ten on one more is predicted.
func TestFewHosts(t *testing.T) {
	h := read(t, recordtest.Fleet(4, 6), Options{Metric: "startup"})
	if h.Pools || !strings.Contains(h.WhyNot, "it takes 5") || h.row(t, "crun").Pooled != nil || h.row(t, "crun").Differ == nil {
		t.Errorf("four hosts: %+v", h)
	}
	if h := read(t, recordtest.Fleet(10, 20), Options{Metric: "startup"}); h.row(t, "crun").Pooled.Next == nil || h.row(t, "crun").Pooled.Spread.Lo == nil {
		t.Error("of ten hosts nothing is said of one more")
	}
}

// Two runs of a host are one host, with the blocks of both; two boots of it too, and
// two containers of one machine.
func TestOneHost(t *testing.T) {
	runs := recordtest.Fleet(3, 6)
	again := runs[1]
	again.ID, again.Seed, again.Host.Boot = "again", 77, "later"
	h := read(t, append(runs, again), Options{Metric: "startup"})
	if len(h.Hosts) != 3 || len(h.Hosts[1].Runs) != 2 || h.Hosts[1].Blocks != 12 || h.row(t, "crun").Hosts[1].Blocks != 12 {
		t.Errorf("%+v", h.Hosts)
	}
	of, desk := map[string]string{"name-of": "client", "client": "a"}, map[string]string{"client": "desk"}
	for _, c := range []struct {
		what string
		a, b record.Host
		by   By
		want bool
	}{
		{"containers of a machine", record.Host{Name: "a", Boot: "x"}, record.Host{Name: "b", Boot: "x"}, ByMachine, true},
		{"the same by name", record.Host{Name: "a", Boot: "x"}, record.Host{Name: "b", Boot: "x"}, ByName, false},
		{"two boots", record.Host{Name: "a", Machine: "m", Boot: "x"}, record.Host{Name: "a", Machine: "m", Boot: "y"}, ByMachine, true},
		{"two from one image", record.Host{Name: "a", Machine: "m", Boot: "x"}, record.Host{Name: "b", Machine: "m", Boot: "y"}, ByMachine, false},
		{"two of one name", record.Host{Name: "a", Machine: "m", Boot: "x"}, record.Host{Name: "a", Machine: "n", Boot: "y"}, ByMachine, false},
		{"older records", record.Host{Name: "a", CPU: "c"}, record.Host{Name: "a", CPU: "c"}, ByMachine, true},
		{"older records of two", record.Host{Name: "a", CPU: "c"}, record.Host{Name: "a", CPU: "d"}, ByMachine, false},
		{"two nodes of one client", record.Host{Name: "a", Boot: "x", More: of}, record.Host{Name: "a", Boot: "y", More: of}, ByMachine, false},
		{"a node twice", record.Host{Name: "a", Boot: "x", More: of}, record.Host{Name: "a", Boot: "x", More: of}, ByMachine, true},
		{"nodes without a boot", record.Host{Name: "a", More: of}, record.Host{Name: "a", More: of}, ByMachine, false},
		{"a node and its client", record.Host{Name: "a", Boot: "x", More: of}, record.Host{Name: "a", Machine: "m", Boot: "y"}, ByMachine, false},
		{"a node and its client by name", record.Host{Name: "a", Boot: "x", More: of}, record.Host{Name: "a", Boot: "y"}, ByName, true},
		{"machines of one name on two desks", record.Host{Name: "localhost", Boot: "x", More: map[string]string{"client": "a"}}, record.Host{Name: "localhost", Boot: "y", More: desk}, ByMachine, false},
		{"a machine that was booted anew, from one desk", record.Host{Name: "localhost", Boot: "x", More: desk}, record.Host{Name: "localhost", Boot: "y", More: desk}, ByMachine, true},
		{"a machine from two desks", record.Host{Name: "a", Machine: "m", Boot: "x", More: map[string]string{"client": "a"}}, record.Host{Name: "a", Machine: "m", Boot: "y", More: desk}, ByMachine, true},
		{"a machine in one boot from two desks", record.Host{Name: "localhost", Boot: "x", More: map[string]string{"client": "a"}}, record.Host{Name: "localhost", Boot: "x", More: desk}, ByMachine, true},
	} {
		if sameHost(c.a, c.b, c.by) != c.want {
			t.Errorf("%s: one host is %v", c.what, !c.want)
		}
	}
	if n := Count([]record.Host{{Name: "a", Boot: "x"}, {Name: "b", Boot: "x"}, {Name: "c", Boot: "z"}}, ByMachine); n != 2 {
		t.Errorf("%d hosts, want 2", n)
	}
}

// What can't be set beside each other is refused, and says why.
func TestRefused(t *testing.T) {
	runs := recordtest.Fleet(2, 6)
	for want, change := range map[string]func(*analyze.Result){
		"only runs of one study":   func(r *analyze.Result) { r.Run.Study = "other" },
		"at scale quick":           func(r *analyze.Result) { r.Run.Scale = "quick" },
		"cache is warm in the one": func(r *analyze.Result) { r.Run.Protocol.Cache = "cold" },
		"no counted trial":         func(r *analyze.Result) { r.Run.Blocks = 0 },
		"the same run as":          func(r *analyze.Result) { r.Run.ID = runs[0].ID },
	} {
		g := NewGathering(Options{})
		if err := g.Add(analyzetest.Run(t, runs[0]), "a"); err != nil {
			t.Fatal(err)
		}
		second := analyzetest.Run(t, runs[1])
		change(second)
		if err := g.Add(second, "b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	g := NewGathering(Options{Against: "nothing"})
	if err := g.Add(analyzetest.Run(t, runs[0]), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Hosts(); err == nil || !strings.Contains(err.Error(), "crun") {
		t.Errorf("%v names no environment that there is", err)
	}
}

// An environment that a host has not is a gap there and nowhere else, and any
// environment can be what others are held against.
func TestGaps(t *testing.T) {
	runs := recordtest.Fleet(3, 6)
	runs[2].Envs = runs[2].Envs[:2]
	h := read(t, runs, Options{Metric: "startup", Against: "crun"})
	r := h.row(t, "runc")
	if r.Against != "crun" || r.Hosts[2].Missing != notThere || r.Hosts[0].Missing != "" || r.Holds == Everywhere {
		t.Errorf("%+v", r)
	}
	if math.Abs(r.Hosts[0].Value/2.5-1) > 0.1 {
		t.Errorf("runc against crun is %v, want 2.5", r.Hosts[0].Value)
	}
	if h.Tables[0].Times[2].Hosts[2].Missing != notThere {
		t.Errorf("%+v", h.Tables[0].Times)
	}
}

// Published values have no blocks: there are hosts, side by side, and no interval.
func TestPublished(t *testing.T) {
	h, err := Published("khan2026")
	if err != nil || len(h.Hosts) != 3 || h.Pools {
		t.Fatalf("%+v %v", h, err)
	}
	for _, x := range h.Tables {
		for _, r := range x.Rows {
			if r.Pooled != nil || r.Differ != nil || r.Holds != Values {
				t.Errorf("%s: %+v", x.Workload, r)
			}
			for _, a := range r.Hosts {
				if a.Lo != nil || a.P != nil {
					t.Errorf("%s of %s has an interval", x.Workload, r.Env)
				}
			}
		}
	}
	// Medians of 50 starts on each host, as its page has them for means.
	for _, r := range h.Tables[0].Rows {
		if r.Env == "python:3.11-slim warm" && (r.Hosts[0].Value > 1 || r.Hosts[2].Value < 1.1) {
			t.Errorf("%+v", r)
		}
	}
	if _, err := Published("abraham2020"); err == nil || !strings.Contains(err.Error(), "khan2026") {
		t.Errorf("%v", err)
	}
}

// Times over a local socket and over the network are pooled on one host, and that is said;
// those of two hosts, or of one way, are not remarked on.
func TestWays(t *testing.T) {
	env := func(id, reached string) record.Environment {
		return record.Environment{ID: id, Facts: map[string]string{"version": "28", "reached": reached}}
	}
	one, two := &gathered{Host: Host{Label: "one"}}, &gathered{Host: Host{Label: "two"}}
	one.reached([]record.Environment{env("docker", "Unix socket"), env("podman", "ssh"), {ID: "native", Baseline: "native"}, {ID: "crun"}})
	one.reached([]record.Environment{env("docker", "TCP with TLS"), env("podman", "ssh"), {ID: "crun", Facts: map[string]string{"version": "1"}}})
	two.reached([]record.Environment{env("docker", "ssh")})
	two.reached([]record.Environment{env("docker", "ssh")})
	h := &Hosts{}
	h.ways([]*gathered{one, two})
	if len(h.Remark) != 1 || h.Remark[0].Code != "ways-together" || !strings.Contains(h.Remark[0].Text, "one has runs that reached its engines in several ways (docker: Unix socket; TCP with TLS)") {
		t.Errorf("%+v", h.Remark)
	}
	two.reached([]record.Environment{{ID: "docker", Facts: map[string]string{"version": "28"}}})
	h = &Hosts{}
	if h.ways([]*gathered{two}); len(h.Remark) != 1 || !strings.Contains(h.Remark[0].Text, "(docker: ssh; on the machine itself)") {
		t.Errorf("by both halves: %+v", h.Remark)
	}
}
