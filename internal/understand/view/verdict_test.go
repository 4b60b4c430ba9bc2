package view_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/view"
)

func env(id, baseline string, startUp time.Duration) recordtest.Env {
	e := recordtest.Environment(id, id, baseline, nil)
	e.StartUp = startUp
	return e
}

func TestVerdict(t *testing.T) {
	const ms = time.Millisecond
	three := []recordtest.Env{env("native", "native", ms), env("quick", "", 20*ms), env("slow", "", 40*ms), env("slower", "", 80*ms)}
	tie := []recordtest.Env{env("native", "native", ms), env("a", "", 20*ms), env("b", "", 20*ms), env("slow", "", 40*ms)}
	equal := []recordtest.Env{env("a", "", 20*ms), env("b", "", 20*ms), env("c", "", 20*ms)}
	failing := []recordtest.Env{env("a", "", 0), env("b", "", 0)}
	floor := []recordtest.Env{env("native", "native", ms), env("floor", "floor", 2*ms), env("a", "", 20*ms)}
	of := func(engine, id string, startUp time.Duration) recordtest.Env {
		e := recordtest.Environment(engine+"/"+id, engine, "", nil)
		e.StartUp = startUp
		return e
	}
	one := []recordtest.Env{of("x", "quick", 20*ms), of("x", "slow", 40*ms), of("x", "slower", 80*ms)}
	both := []recordtest.Env{of("x", "quick", 20*ms), of("x", "slow", 160*ms), of("y", "quick", 80*ms), of("y", "slow", 160*ms)}
	shaky := []recordtest.Env{env("a", "", 20*ms), env("b", "", 40*ms)}
	shaky[0].FailEvery, shaky[0].Class = 4, record.TimeOut
	untried := []recordtest.Env{env("a", "", 20*ms), env("b", "", 40*ms)}
	untried[0].Unverified = true
	for _, c := range []struct {
		name   string
		blocks int
		envs   []recordtest.Env
		says   []string
		not    []string
	}{
		{"one is best", 20, three, []string{"Start-up with hello: quick is fastest at ", "next is slow, which is 2.02× slower (", "Engine by engine (median", "(4.03×)", "× slower than native at ", "Based on 20 blocks"}, []string{"Caution", "of each", "≈"}},
		{"two are", 20, tie, []string{"a and b share the first place", "next is slow", " ≈ b ", "≈: no difference found)"}, []string{"is fastest"}},
		{"all are", 8, equal, []string{"none of the 3 environments differs measurably"}, []string{"next", "is fastest"}},
		{"few blocks", 3, three, []string{"with only 3 blocks it is preliminary"}, []string{"Based on"}},
		{"one block", 1, three, []string{"none of the 3 environments differs measurably", "only 1 block"}, []string{"is fastest", "next", "Why"}},
		{"none", 8, failing, []string{"No environment has a value of start-up with hello: every trial failed."}, []string{"best"}},
		{"a floor", 12, floor, []string{"Only a has a value", "the floor, the bare system calls of a container, accounts for"}, []string{"Engine by engine"}},
		{"one engine", 12, one, []string{"x/quick is fastest"}, []string{"Engine by engine"}},
		{"two engines", 12, both, []string{"Fastest environment of each engine (median, and ratio to the first): x 20", ", y 79 ms (3.99×)"}, []string{"40"}},
		{"failures", 12, shaky, []string{"6 of 24 trials of a failed"}, nil},
		{"why", 12, recordtest.Typical().Envs, []string{"Why: the ", " of docker-api consist mostly of create 12", " and start ", "`plimsoll explain docker client=api` shows what waits for what."}, nil},
		{"unverified", 12, untried, []string{"the support for a is unverified"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := recordtest.Typical()
			s.Envs, s.Blocks, s.Excluded, s.StealEvery = c.envs, c.blocks, nil, 0
			d := build(t, s.Open(t), view.Options{})
			all := strings.Join(d.Verdict, " ")
			t.Log(all)
			if len(d.Verdict) > 5 {
				t.Errorf("%d sentences", len(d.Verdict))
			}
			for _, w := range c.says {
				if !strings.Contains(all, w) {
					t.Errorf("it does not say %q: %s", w, all)
				}
			}
			for _, w := range c.not {
				if strings.Contains(all, w) {
					t.Errorf("it says %q: %s", w, all)
				}
			}
		})
	}
}

func TestTrust(t *testing.T) {
	s := recordtest.Typical()
	s.Residue = []string{"a mount"}
	run := s.Open(t)
	run.Run().Host.Remarks = []record.Remark{
		{Code: "busy", Level: "warn", Text: "Other programs use 30 % of the CPUs.", Advice: "end them"},
		{Code: "no-clock", Level: "refuse", Text: "The clock jumps."},
		{Code: "few-cpus", Level: "info", Text: "There are 2 CPUs."},
	}
	d := build(t, run, view.Options{})
	place := map[string]int{view.Bad: 0, view.Warn: 1, view.Good: 2}
	found := map[string]string{}
	for i, x := range d.Trust {
		t.Log(x)
		found[x.Title] = x.Level
		if i > 0 && place[x.Level] < place[d.Trust[i-1].Level] {
			t.Error("the worst is not first")
		}
		if x.Text == "" || !strings.HasSuffix(x.Text, ".") {
			t.Errorf("%q is no sentence", x.Text)
		}
	}
	for title, level := range map[string]string{
		"Failures": view.Bad, "No clock": view.Bad, "Busy": view.Warn, "Left behind": view.Warn, "Clock": view.Warn,
		"Run": view.Good, "Blocks": view.Good,
	} {
		if found[title] != level {
			t.Errorf("%s: %q, not %q", title, found[title], level)
		}
	}
	if _, ok := found["Few cpus"]; ok {
		t.Error("information is no matter of trust")
	}
	if _, ok := found["Machine"]; ok {
		t.Error("the machine is called good although doctor refuses it")
	}
}

// Stolen time that is too little for a warning is said all the same.
func TestLittleSteal(t *testing.T) {
	s := recordtest.Typical()
	s.StealEvery = 5
	for _, x := range build(t, s.Open(t), view.Options{}).Trust {
		if x.Title == "Steal" {
			if !strings.Contains(x.Text, "trials of ") {
				t.Errorf("%q", x.Text)
			}
			return
		}
	}
	t.Error("nothing is said of it")
}
