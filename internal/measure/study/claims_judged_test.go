package study

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// Every encoded claim can be supported, contradicted, blurred and lacked, and
// depends on nothing but the engines that it names.
//
// For each, a run is made with every environment and workload that it needs,
// and with some of every other engine. Its pairs, and the ranges in which their
// ratios must lie, are difference constraints on the logarithms of the cells;
// a solution of these is a run that supports it.
func TestEncodedClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("makes data for each claim: left out with -short")
	}
	tested, flipped := 0, 0
	for study, claims := range bundledClaims(t) {
		for _, c := range claims {
			// Shares of failures are no cells: TestFailureShare has them.
			c.Tests = slices.DeleteFunc(slices.Clone(c.Tests), func(t record.ClaimTest) bool { return t.Metric == record.Failures.ID })
			if len(c.Tests) == 0 {
				continue
			}
			tested++
			t.Run(c.ID, func(t *testing.T) { flipped += encoded(t, study, c) })
		}
	}
	if tested < 25 || flipped < 2*tested {
		t.Errorf("%d claims were tested, and %d changes of an engine's numbers flipped one", tested, flipped)
	}
}

// cellKey is one cell of a run.
type cellKey struct{ env, work, metric string }

// encoded tests one claim and says how many engines can flip it.
func encoded(t *testing.T, study string, c record.Claim) int {
	w := worldOf(t, study, c)
	named := namedEngines(t, c)
	truth := w.solve(t)
	f := w.judge(t, truth, 0.0002)
	if f.Verdict != analyze.ClaimSupported || f.Partly != (c.Needs != "") {
		t.Fatalf("%s (partly %v): %s; %+v", f.Verdict, f.Partly, f.Reason, f.Without)
	}
	for _, p := range f.Pairs {
		for _, s := range []*analyze.ClaimSide{&p.A, p.B} {
			if s != nil && s.Engine != "native" && !slices.Contains(named, s.Engine) {
				t.Errorf("%s is in a pair, and the claim does not name it", s.Env)
			}
		}
	}

	// Numbers of an engine that the claim names, changed at random, flip it:
	// some by one change, some only by one in another direction.
	rng := rand.New(rand.NewPCG(1, 2))
	change := func(into map[cellKey]float64, of func(engine string) bool) map[cellKey]float64 {
		for _, k := range w.cells {
			if of(w.engineOf[k.env]) {
				into[k] += 10 * (rng.Float64() - 0.5) // up to 150 times as much, or as little
			}
		}
		return into
	}
	flipped := 0
	for _, e := range named {
		for range 8 {
			if g := w.judge(t, change(maps.Clone(truth), func(o string) bool { return o == e }), 0.0002); g.Verdict != analyze.ClaimSupported {
				flipped++
				break
			}
		}
	}
	if flipped < len(named) {
		t.Errorf("only numbers of %d of the engines that it names flip it: %v", flipped, named)
	}
	strangers := change(maps.Clone(truth), func(o string) bool { return o != "native" && !slices.Contains(named, o) })
	if g := w.judge(t, strangers, 0.0002); g.Verdict != f.Verdict || len(g.Pairs) != len(f.Pairs) || !reflect.DeepEqual(estimates(g), estimates(f)) {
		t.Errorf("numbers of engines that the claim does not name change it: %s", g.Reason)
	}
	// What is blurred may still be contradicted by chance, in 5 of 100 runs.
	blurred := *w
	for blurred.spec.Seed = 1; blurred.spec.Seed < 4; blurred.spec.Seed++ {
		g := blurred.judge(t, truth, 3)
		if g.Verdict == analyze.ClaimInconclusive {
			break
		}
		if blurred.spec.Seed == 3 {
			t.Errorf("blurred, it is %s: %s", g.Verdict, g.Reason)
		}
	}
	lacking := *w
	lacking.spec.Envs = slices.DeleteFunc(slices.Clone(w.spec.Envs), func(e recordtest.Env) bool { return slices.Contains(named, e.Engine) })
	if g := lacking.judge(t, truth, 0.0002); g.Verdict != analyze.ClaimNotTested || len(g.Without) == 0 {
		t.Errorf("without its engines it is %s: %s", g.Verdict, g.Reason)
	}
	return flipped
}

func estimates(f analyze.Finding) []sample.Estimate {
	var out []sample.Estimate
	for _, p := range f.Pairs {
		out = append(out, *p.Estimate)
	}
	return out
}

// namedEngines are those that a claim is about. Each test must name some.
func namedEngines(t *testing.T, c record.Claim) []string {
	var out []string
	for _, test := range c.Tests {
		if len(test.Of["engine"]) == 0 || test.To != nil && len(test.To["engine"]) == 0 {
			t.Errorf("a test names no engine: %+v", test)
		}
		out = append(append(out, test.Of["engine"]...), test.To["engine"]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// world is a synthetic run for one claim.
type world struct {
	dir      string
	claim    record.Claim
	spec     recordtest.Spec
	engineOf map[string]string
	cells    []cellKey
	has      map[cellKey]bool
}

// others are engines that any claim may not name.
var others = []string{"docker", "podman", "apptainer", "lxd", "cri"}

func worldOf(t *testing.T, study string, c record.Claim) *world {
	w := &world{dir: t.TempDir(), claim: c, engineOf: map[string]string{}, has: map[cellKey]bool{},
		spec: recordtest.Spec{Name: study, Seed: 3, Blocks: 6, PerBlock: 1, Claims: []record.Claim{c}}}
	w.claim.Answers, w.spec.Claims[0].Answers = nil, nil // they may hold or not
	add := func(id, engine, baseline string, levels map[string]string) {
		if _, there := w.engineOf[id]; !there {
			w.engineOf[id] = engine
			w.spec.Envs = append(w.spec.Envs, recordtest.Environment(id, engine, baseline, levels))
		}
	}
	add("native", "native", "native", nil)
	for _, test := range c.Tests {
		for _, sel := range []map[string][]string{test.Of, test.To} {
			if sel == nil {
				continue
			}
			sel = maps.Clone(sel)
			if test.Vary != "" && sel[test.Vary] == nil {
				sel[test.Vary] = map[string][]string{"image": {"alpine", "debian"}, "storage": {"overlay2", "vfs"}}[test.Vary]
			}
			for _, levels := range cross(sel) {
				engine := levels["engine"]
				delete(levels, "engine")
				id := engine
				for _, f := range slices.Sorted(maps.Keys(levels)) {
					if levels[f] == defaultLevel {
						delete(levels, f)
					} else {
						id += "/" + f + "=" + levels[f]
					}
				}
				add(id, engine, "", levels)
			}
		}
	}
	for _, e := range others {
		add(e, e, "", nil)
	}
	w.works(t)
	for i := range w.spec.Envs {
		for k := range w.spec.Workloads {
			for _, m := range w.spec.Workloads[k].AllMetrics() {
				key := cellKey{w.spec.Envs[i].ID, w.spec.Workloads[k].ID, m.ID}
				if w.has[cellKey{work: key.work, metric: key.metric}] {
					w.cells = append(w.cells, key)
				}
			}
		}
	}
	return w
}

// cross is every combination of the levels.
func cross(sel map[string][]string) []map[string]string {
	out := []map[string]string{{}}
	for _, f := range slices.Sorted(maps.Keys(sel)) {
		var next []map[string]string
		for _, have := range out {
			for _, l := range sel[f] {
				one := maps.Clone(have)
				one[f] = l
				next = append(next, one)
			}
		}
		out = next
	}
	return out
}

// works makes the workloads of the claim's tests, each choice of parameters
// one of its own, and notes which metrics are looked at.
func (w *world) works(t *testing.T) {
	cat := market()
	add := func(c *record.WorkloadChoice, metric string) {
		for _, name := range c.Names {
			info := cat.workload(name)
			if info == nil {
				t.Fatalf("no workload %s", name)
			}
			sets := []map[string]string{{}}
			if c.Params != nil {
				sets = cross(c.Params)
			} else if slices.ContainsFunc(w.spec.Workloads, func(o record.Workload) bool { return o.Name == name }) {
				sets = nil
			}
			for _, params := range sets {
				id := name
				for _, p := range slices.Sorted(maps.Keys(params)) {
					id += "/" + p + "=" + params[p]
				}
				if !slices.ContainsFunc(w.spec.Workloads, func(o record.Workload) bool { return o.ID == id }) {
					w.spec.Workloads = append(w.spec.Workloads, record.Workload{ID: id, Name: name, Params: params})
				}
			}
			for i := range w.spec.Workloads {
				o := &w.spec.Workloads[i]
				if o.Name != name {
					continue
				}
				w.has[cellKey{work: o.ID, metric: metric}] = true
				for _, m := range append(slices.Clone(info.Metrics), cat.Sampled...) {
					if m.ID == metric && !slices.ContainsFunc(o.Metrics, func(h record.Metric) bool { return h.ID == metric }) {
						o.Metrics = append(o.Metrics, m)
					}
				}
			}
		}
	}
	for i := range w.claim.Tests {
		test := &w.claim.Tests[i]
		add(&test.Workload, test.Metric)
		to, metric := &test.Workload, test.Metric
		if test.ToWorkload != nil {
			to = test.ToWorkload
		}
		if test.ToMetric != "" {
			metric = test.ToMetric
		}
		add(to, metric)
	}
}

// judge makes the run with the cells' logarithms and judges the claim by it.
func (w *world) judge(t *testing.T, logs map[cellKey]float64, noise float64) analyze.Finding {
	t.Helper()
	c := recordtest.Cells{Spec: w.spec, Noise: noise, Value: func(e *record.Environment, o *record.Workload, metric string) (float64, bool) {
		l, ok := logs[cellKey{e.ID, o.ID, metric}]
		return math.Exp(l), ok
	}}
	res, err := evaluate.Run(w.open(t, c), evaluate.Options{})
	require.NoError(t, err)
	return res.Findings.Claims[0]
}

// open writes the run where the one before it was. The real writer forces each
// run to the disk, which takes longer than all the rest.
func (w *world) open(t *testing.T, c recordtest.Cells) *record.Reader {
	t.Helper()
	run, err := json.Marshal(c.Run())
	require.NoError(t, err)
	var trials bytes.Buffer
	for x := range c.Trials() {
		line, err := json.Marshal(x)
		require.NoError(t, err)
		trials.Write(append(line, '\n'))
	}
	for name, data := range map[string][]byte{record.RunFile: run, record.TrialsFile: trials.Bytes()} {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, name), data, 0o600))
	}
	r, err := record.Open(w.dir)
	require.NoError(t, err)
	return r
}

// solve gives logarithms at which the claim holds: Bellman and Ford's shortest
// paths over the differences that its pairs demand. Values are held against
// an origin of 0.
func (w *world) solve(t *testing.T) map[cellKey]float64 {
	t.Helper()
	const margin, start = 0.002, 16.0
	logs := map[cellKey]float64{}
	for _, k := range w.cells {
		logs[k] = start
	}
	type edge struct {
		from, to cellKey // to − from ≤ length
		length   float64
	}
	var edges []edge
	origin := cellKey{}
	limit := func(a, b cellKey, r *record.Range) {
		if r.Max != nil {
			edges = append(edges, edge{b, a, math.Log(*r.Max) - margin})
		}
		if r.Min != nil && *r.Min > 0 {
			edges = append(edges, edge{a, b, -math.Log(*r.Min) - margin})
		}
	}
	formed := w.judge(t, logs, 0.0002)
	for _, p := range formed.Pairs {
		test := w.claim.Tests[p.Test-1]
		a := cellKey{p.A.Env, p.A.Workload, p.A.Metric}
		if p.B == nil {
			limit(a, origin, test.Value)
			continue
		}
		limit(a, cellKey{p.B.Env, p.B.Workload, p.B.Metric}, test.Ratio)
	}
	for i := range w.claim.Tests {
		if !slices.ContainsFunc(formed.Pairs, func(p analyze.ClaimPair) bool { return p.Test == i+1 }) {
			t.Errorf("test %d forms no pair", i+1)
		}
	}
	at := maps.Clone(logs)
	at[origin] = 0
	for range len(at) {
		for _, e := range edges {
			at[e.to] = min(at[e.to], at[e.from]+e.length)
		}
	}
	for _, e := range edges {
		if at[e.to] > at[e.from]+e.length+1e-9 {
			t.Fatalf("the claim contradicts itself: %v", e)
		}
	}
	shift := at[origin]
	for k := range logs {
		logs[k] = at[k] - shift
	}
	return logs
}
