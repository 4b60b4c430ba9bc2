package study

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/findings"
)

// A run of some parts has their cells alone, in the blocks that they ask for,
// and the record says what was left out and why.
func TestOnly(t *testing.T) {
	for _, c := range []struct {
		scale  string
		parts  []string
		all    bool
		blocks int
		warmup int
		cells  string
		bad    string
	}{
		{parts: []string{"why"}, blocks: 2, warmup: 0, cells: "docker stop/exit"},
		{parts: []string{"why"}, all: true, blocks: 5, warmup: 0, cells: "docker stop/exit"},
		{parts: []string{"life"}, blocks: 5, warmup: 2, cells: "docker hello"},
		{parts: []string{"life", "why"}, blocks: 5, warmup: 2, cells: "docker hello"},
		{scale: "quick", parts: []string{"why"}, blocks: 2, cells: "docker stop/exit"},
		{parts: []string{"wy"}, bad: `unknown part "wy", expected one of life, why, again; did you mean "why"?`},
		{scale: "quick", parts: []string{"again"}, bad: "this scale leaves the part again out: It is long"},
	} {
		s, err := Read(Source{Path: "t.yaml", Data: []byte(inParts)}, catalogue())
		require.NoError(t, err)
		if s, err = s.At(c.scale); err != nil {
			t.Fatal(err)
		}
		err = s.Only(c.parts, OnlyOptions{AllBlocks: c.all})
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%v: %v, want %s", c.parts, err, c.bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.parts, err)
			continue
		}
		p, err := Expand(s, catalogue(), Options{})
		if err != nil {
			t.Errorf("%v: %v", c.parts, err)
			continue
		}
		in := cellsIn(p)
		if p.Protocol.Blocks != c.blocks || p.Protocol.Warmup != c.warmup || len(in[c.cells]) != c.blocks+c.warmup {
			t.Errorf("%v: %d blocks after %d, cells %v", c.parts, p.Protocol.Blocks, p.Protocol.Warmup, in)
		}
		for _, x := range p.Study.Parts {
			if asked := slices.Contains(c.parts, x.Name); asked == (x.Skipped != "") {
				t.Errorf("%v: part %s is skipped: %q", c.parts, x.Name, x.Skipped)
			}
		}
		if !slices.Equal(p.Study.OnlyParts, c.parts) {
			t.Errorf("the record has %v", p.Study.OnlyParts)
		}
	}
	s, err := Read(Source{Path: "t.yaml", Data: []byte("plimsoll: 1\nname: t\nworkloads: [hello]\nenvironments: [docker]\n")}, catalogue())
	require.NoError(t, err)
	if err := s.Only([]string{"life"}, OnlyOptions{}); err == nil || !strings.Contains(err.Error(), "has no parts") {
		t.Error(err)
	}
}

// Parts alone have no further blocks where claims are open, unless they are asked for, and
// a run of them can be resumed.
func TestOnlyOfClaims(t *testing.T) {
	text, _, _ := strings.Cut(inParts, "scales:")
	text = strings.Replace(text, "seed: 9}", "seed: 9, until: claims, max-blocks: 40, claim-time: 10s}", 1)
	for _, c := range []struct {
		parts  []string
		o      OnlyOptions
		blocks int
		looks  []int
	}{
		{nil, OnlyOptions{}, 40, []int{5, 10, 20, 40}},
		{[]string{"why"}, OnlyOptions{}, 2, nil},
		{[]string{"life", "why"}, OnlyOptions{}, 5, nil},
		{[]string{"why"}, OnlyOptions{AllBlocks: true}, 5, nil},
		{[]string{"why"}, OnlyOptions{Claims: true}, 16, []int{2, 4, 8, 16}},
		{[]string{"life"}, OnlyOptions{Claims: true}, 40, []int{5, 10, 20, 40}},
	} {
		s, err := Read(Source{Path: "t.yaml", Data: []byte(text)}, catalogue())
		require.NoError(t, err)
		require.NoError(t, s.Only(c.parts, c.o))
		p, err := Expand(s, catalogue(), Options{})
		require.NoError(t, err)
		if q := p.Protocol; q.Blocks != c.blocks || !slices.Equal(q.ClaimLooks, c.looks) || (q.ClaimTimeNS > 0) != (c.looks != nil) {
			t.Errorf("%v, %+v: %d blocks, looks after %v, %d ns", c.parts, c.o, q.Blocks, q.ClaimLooks, q.ClaimTimeNS)
		}
		var run record.Run
		p.Record(&run)
		if _, err := FromRun(&run); err != nil {
			t.Errorf("%v, %+v: %v", c.parts, c.o, err)
		}
	}
}

// What a bundled study says of the command that answers a question is true:
// the part is there at that scale, and a run of it alone forms pairs.
func TestAnswersHaveTheirPart(t *testing.T) {
	cat := market()
	with := 0
	for _, name := range Names() {
		full, err := Load(name, cat)
		require.NoError(t, err)
		given := map[string]*analyze.Result{}
		for _, c := range full.Claims {
			for i, a := range c.Answers {
				if a.Command == "" {
					t.Errorf("%s, answer %d: no part of the study is named that gives it", c.ID, i+1)
					continue
				}
				with++
				if given[a.Command] == nil {
					given[a.Command] = ran(t, name, a.Command)
				}
				if !formsPair(given[a.Command], a.Test) {
					t.Errorf("%s, answer %d: %s forms no pair", c.ID, i+1, a.Command)
				}
			}
		}
	}
	if with < 10 {
		t.Errorf("only %d answers name their part", with)
	}
}

// ran is a run of the parts and the scale of a bundled study that a command names,
// in which everything gives numbers.
func ran(t *testing.T, name, command string) *analyze.Result {
	t.Helper()
	cat := market()
	words := strings.Fields(command)
	var parts []string
	scale := ""
	for i, w := range words {
		if w == "--part" {
			parts = append(parts, words[i+1])
		}
	}
	if slices.Contains(words, "--scale") {
		scale = quick
	}
	s, err := Load(name, cat)
	require.NoError(t, err)
	s, err = s.At(scale)
	require.NoError(t, err)
	require.NoError(t, s.Only(parts, OnlyOptions{}))
	p, err := Expand(s, cat, Options{})
	require.NoError(t, err)
	runs := map[[2]string]bool{}
	for _, c := range p.Cells {
		runs[[2]string{p.Environments[c.Env].ID, p.Workloads[c.Workload].ID}] = true
	}
	spec := recordtest.Spec{Name: "t", Seed: 1, Blocks: 1, PerBlock: 1}
	for _, e := range p.Environments {
		spec.Envs = append(spec.Envs, recordtest.Environment(e.ID, e.Engine, e.Baseline, maps.Clone(e.Levels)))
	}
	for _, w := range p.Workloads {
		info := cat.workload(w.Name)
		w.Metrics = slices.Concat(info.Metrics, cat.Sampled)
		spec.Workloads = append(spec.Workloads, w)
	}
	w := &world{dir: t.TempDir(), spec: spec}
	c := recordtest.Cells{Spec: spec, Noise: 0.1, Value: func(e *record.Environment, w *record.Workload, _ string) (float64, bool) {
		return 1, runs[[2]string{e.ID, w.ID}]
	}}
	res, err := evaluate.Run(w.open(t, c), evaluate.Options{})
	require.NoError(t, err)
	return res
}

// formsPair says whether a run has a pair of the test.
func formsPair(res *analyze.Result, test record.ClaimTest) bool {
	f := findings.Judge([]*analyze.Result{res}, []record.Claim{{ID: "t/1", Says: "t", Tests: []record.ClaimTest{test}}}, nil)
	return len(f.Claims[0].Pairs) > 0
}
