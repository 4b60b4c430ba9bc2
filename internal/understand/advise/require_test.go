package advise

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// truth says whether an environment has a property, decided here anew from
// what the test itself put into the record and the table.
func truth(word string, e recordtest.Env, f *record.Features) State {
	facts, in := e.Facts, e.Inside
	guest := in.Kernel != "" && in.Kernel != hostKernel
	cell := record.FeatureUntried
	row := map[string]string{"daemonless": "daemonless", "detached": "detached", "signed": "signed"}[word]
	if row != "" {
		cell = f.Cell(row, e.Engine).Value
	}
	only := func(value, yes string, no ...string) State {
		switch {
		case value == yes:
			return Yes
		case slices.Contains(no, value):
			return No
		}
		return Unknown
	}
	both := func(a State) State {
		b := map[record.FeatureValue]State{record.FeatureYes: Yes, record.FeatureNo: No, record.FeaturePartial: No, record.FeatureUntried: Unknown}[cell]
		switch {
		case a == No || b == No:
			return No
		case a == Yes || b == Yes:
			return Yes
		}
		return Unknown
	}
	switch word {
	case "rootless":
		return only(facts["rootless"], "yes", "no")
	case "daemonless":
		return both(only(facts["daemon"], "none", "user's", "private"))
	case "detached":
		return both(only(facts["held"], "engine", "background"))
	case "signed":
		return both(Unknown)
	case "own-kernel":
		switch {
		case in.Kernel == "":
			return Unknown
		case guest:
			return Yes
		}
		return No
	case "vm-isolation":
		switch {
		case in.Kernel == "" || guest && facts["runtime"] == "":
			return Unknown
		case guest && strings.HasPrefix(facts["runtime"], "kata"):
			return Yes
		case guest && facts["runtime"] == "runc":
			return Unknown
		}
		return No
	case "user-namespace":
		if guest {
			return Unknown
		}
		return only(in.Namespaces["user"], "own", "host")
	case "syscall-filter":
		if guest {
			return Unknown
		}
		return only(in.Seccomp, "2", "0")
	}
	panic(word)
}

const hostKernel = "6.1.0" // recordtest's

// TestNothingPassesThatMustNot: over random environments of which all sorts of
// things are known and not known, exactly those get by that surely have one of
// each demand's properties; whatever their numbers are.
func TestNothingPassesThatMustNot(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	words := []string{"rootless", "daemonless", "detached", "signed", "own-kernel", "vm-isolation", "user-namespace", "syscall-filter"}
	passed, barred, unknown := 0, 0, 0
	for range 30 {
		s := spec(native(ms, nil))
		s.Workloads, s.Blocks = s.Workloads[:1], 4
		f := &record.Features{Schema: record.FeaturesSchema}
		for _, row := range []string{"rootless", "daemonless", "detached", "signed"} {
			r := record.FeatureRow{ID: row, Cells: map[string]record.FeatureCell{}}
			for k := range 12 {
				if v := pick("yes", "yes", "no", "partial", "untried", ""); v != "" {
					// What was published must never matter.
					r.Cells[fmt.Sprintf("e%d", k)] = record.FeatureCell{Value: record.FeatureValue(v), Published: "yes"}
				}
			}
			f.Rows = append(f.Rows, r)
		}
		for k := range 12 {
			e := env(fmt.Sprintf("e%d", k), 5*ms, nil)
			for key, v := range map[string]string{"rootless": pick("yes", "no", ""), "daemon": pick("none", "none", "user's", "private", ""), "held": pick("engine", "engine", "background", ""), "runtime": pick("runc", "runsc", "kata-qemu", "")} {
				if e.Facts[key] = v; v == "" {
					delete(e.Facts, key)
				}
			}
			e.Inside = inView(pick("own", "host"), pick("0", "2"), pick(hostKernel, hostKernel, "4.4.0", ""))
			if e.Inside.Kernel == "" { // recordtest writes no view without a kernel
				e.Inside = record.Inside{}
			}
			s.Envs = append(s.Envs, e)
		}
		p := Profile{Name: "made", Criteria: []Criterion{{Workload: "hello", Metric: "startup", Better: record.LowerIsBetter, Weight: 1, Why: "a"}}}
		for range 1 + rng.IntN(3) {
			d := Demand{Is: []string{words[rng.IntN(len(words))]}, Why: "b"}
			if other := words[rng.IntN(len(words))]; rng.IntN(2) == 0 && other != d.Is[0] {
				d.Is = append(d.Is, other)
			}
			p.Require = append(p.Require, d)
		}
		a, err := Run([]*analyze.Result{read(t, s)}, f, p, Options{Draws: 10})
		require.NoError(t, err)
		got := map[string]bool{}
		for _, r := range a.Ranked {
			got[r.Env] = true
		}
		refused := map[string][]Answer{}
		for _, r := range a.Refused {
			refused[r.Env] = r.Require
		}
		for _, e := range s.Envs[1:] {
			all := true
			for _, d := range p.Require {
				has := No
				for _, w := range d.Is {
					switch v := truth(w, e, f); {
					case v == Yes:
						has = Yes
					case v == Unknown && has == No:
						has = Unknown
					}
				}
				all = all && has == Yes
				if has == Yes {
					continue
				}
				i := slices.IndexFunc(refused[e.ID], func(x Answer) bool { return slices.Equal(x.Is, d.Is) })
				if i < 0 || refused[e.ID][i].State != has || len(refused[e.ID][i].Facts) == 0 {
					t.Errorf("%s: %v is %s, said: %+v; facts %v, inside %+v", e.ID, d.Is, has, refused[e.ID], e.Facts, e.Inside)
				}
				if has == Unknown {
					unknown++
				}
			}
			if got[e.ID] != all || all == (refused[e.ID] != nil) {
				t.Errorf("%s: ranked %v, want %v (refused: %+v)", e.ID, got[e.ID], all, refused[e.ID])
			}
			if all {
				passed++
			} else {
				barred++
			}
		}
	}
	if passed < 50 || barred < 50 || unknown < 50 {
		t.Errorf("passed %d, barred %d, unknown %d: too few of one kind to say anything", passed, barred, unknown)
	}
}

func TestProperties(t *testing.T) {
	v := &view{env: record.Environment{ID: "e", Facts: map[string]string{"held": "background", "held-reason": "no shell", "network": "host"}},
		audit: &audit.Environment{Isolation: map[string]string{"kernel": "4.4.0", "ns.net": "own"}, Guest: true}, host: record.Host{Kernel: "6.1.0"}}
	if f := held(v); f.State != No || f.Text != "held: background, no shell" || f.Source != "run.json: environment e, fact held" {
		t.Errorf("%+v", f)
	}
	if f := ownNetwork(v); f.State != No {
		t.Errorf("the host's network: %+v", f)
	}
	v.env.Facts["network"] = "bridge"
	if f := ownNetwork(v); f.State != Yes {
		t.Errorf("a guest on a bridge: %+v", f)
	}
	v.env.Facts["runtime"] = "runsc"
	if f := virtualMachine(v); f.State != No || !strings.Contains(f.Text, "process of the host") {
		t.Errorf("gVisor: %+v", f)
	}
	// A clock of its own is not yet a kernel of its own.
	v.audit.Isolation["kernel"] = "6.1.0"
	if f := ownKernel(v); f.State != Unknown {
		t.Errorf("another clock alone: %+v", f)
	}
	v.audit = nil
	for _, p := range fromRun {
		if f := p.see(v); f.State == Yes && f.From == fromInside {
			t.Errorf("%s without a view from inside: %+v", p.word, f)
		}
	}
}

// What an engine could not show for want of hardware is not known of it; a part without
// such an excuse is a no.
func TestCellsForWantOf(t *testing.T) {
	for _, c := range []struct {
		cell record.FeatureCell
		want State
	}{
		{record.FeatureCell{Value: record.FeaturePartial}, No},
		{record.FeatureCell{Value: record.FeaturePartial, Lacking: "there is no GPU"}, Unknown},
		{record.FeatureCell{Value: record.FeatureNo}, No},
		{record.FeatureCell{Value: record.FeatureYes}, Yes},
		{record.FeatureCell{Value: record.FeatureUntried}, Unknown},
	} {
		k := properties(&record.Features{Rows: []record.FeatureRow{{ID: "gpus", Cells: map[string]record.FeatureCell{"e": c.cell}}}})
		if f := k.cell("gpus", "e"); f.State != c.want {
			t.Errorf("%+v: %+v", c.cell, f)
		}
	}
}

// Of several runs each says what it knows: one no bars, one yes is enough where
// none says no, and what one run cannot tell another may. Never does a run that
// says nothing change an answer, and never does a further run lift a no.
func TestRunsTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	seen := map[State]int{}
	for range 3000 {
		k := catalogue{}
		if rng.IntN(2) == 0 {
			k.features = &record.Features{Rows: []record.FeatureRow{{ID: "daemonless", Cells: map[string]record.FeatureCell{"e": {Value: record.FeatureValue(pick("yes", "no", "untried"))}}}}}
		}
		var views []*view
		for range 1 + rng.IntN(3) {
			v := &view{run: pick("a", "b"), host: record.Host{Kernel: pick(hostKernel, "")},
				env: record.Environment{ID: "e", Engine: "e", Facts: map[string]string{"rootless": pick("", "", "yes", "no"), "daemon": pick("", "", "none", "private"), "held": pick("", "engine", "background"), "runtime": pick("", "runc", "runsc", "kata"), "network": pick("", "host", "bridge")}}}
			if rng.IntN(2) == 0 {
				kernel := pick(hostKernel, "4.4.0", "")
				v.audit = &audit.Environment{Guest: kernel == "4.4.0", Isolation: map[string]string{"kernel": kernel, "ns.user": pick("", "own", "host"), "ns.net": pick("", "own", "host"), "seccomp-mode": pick("", "0", "2")}}
			}
			views = append(views, v)
		}
		d := Demand{}
		for _, w := range rng.Perm(len(fromRun))[:1+rng.IntN(2)] {
			d.Is = append(d.Is, fromRun[w].word)
		}
		want := No
		for _, word := range d.Is {
			one := Unknown
			for _, v := range views {
				switch alone := k.answer(Demand{Is: []string{word}}, []*view{v}).State; {
				case alone == No:
					one = No
				case alone == Yes && one == Unknown:
					one = Yes
				}
			}
			if one == Yes || one == Unknown && want == No {
				want = one
			}
		}
		got := k.answer(d, views)
		seen[got.State]++
		if got.State != want || len(got.Facts) == 0 {
			t.Fatalf("%v is %s, not %s: %+v", d.Is, got.State, want, got.Facts)
		}
		mute := &view{run: "c", env: record.Environment{ID: "e", Engine: "e"}}
		if with := k.answer(d, append(slices.Clone(views), mute)); with.State != got.State {
			t.Fatalf("%v is %s, and %s with a run that says nothing: %+v", d.Is, got.State, with.State, with.Facts)
		}
	}
	if seen[Yes] < 100 || seen[No] < 100 || seen[Unknown] < 100 {
		t.Errorf("%v: too few of one kind to say anything", seen)
	}
}
