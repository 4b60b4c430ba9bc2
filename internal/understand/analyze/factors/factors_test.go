package factors

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
)

func factors(t *testing.T, s analyzetest.Opener, opts Options) *Factors {
	t.Helper()
	f, err := Of(analyzetest.Run(t, s), opts)
	require.NoError(t, err)
	return f
}

func (f *Factors) share(factor, with string) *Share {
	for i := range f.Shares {
		if s := &f.Shares[i]; s.Factor == factor && s.With == with || s.Factor == with && s.With == factor {
			return s
		}
	}
	return nil
}

// trueShares computes the shares of a matrix from its effects alone: without
// noise, and then with the noise that it was given.
func trueShares(m recordtest.MatrixSpec) map[string]float64 {
	var logs [][]float64
	sum, n := 0.0, 0.0
	for e, env := range m.Envs {
		if env.Baseline != "" {
			continue
		}
		row := []float64{}
		for _, w := range m.Workloads {
			row = append(row, math.Log(m.Value(e, w)))
			sum += row[len(row)-1]
			n++
		}
		logs = append(logs, row)
	}
	mean, total := sum/n, m.Noise*m.Noise*(n-1)
	groups := map[string]map[string][]float64{}
	i := 0
	for _, env := range m.Envs {
		if env.Baseline != "" {
			continue
		}
		for k, w := range m.Workloads {
			v := logs[i][k] - mean
			total += v * v
			for f, l := range map[string]string{"engine": env.Engine, "storage": env.Levels["storage"], "runtime": env.Levels["runtime"], "files": w.Params["files"]} {
				if groups[f] == nil {
					groups[f] = map[string][]float64{}
				}
				groups[f][l] = append(groups[f][l], v)
			}
		}
		i++
	}
	out := map[string]float64{"noise": m.Noise * m.Noise * (n - 1) / total}
	for f, levels := range groups {
		for _, v := range levels {
			s := 0.0
			for _, x := range v {
				s += x
			}
			out[f] += s * s / float64(len(v)) / total
		}
	}
	return out
}

// A matrix with known effects comes back with these inside the intervals, in
// at least as many of the runs as the intervals say, nearly.
func TestFactorsFindTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	hits, all := 0, 0
	for seed := range uint64(25) {
		m := recordtest.Matrix()
		m.Seed, m.Noise = seed, 0.1
		f := factors(t, m, Options{})
		if f.Cells != 24 || f.Blocks != 12 || f.Shares[0].Factor != "storage" || len(f.Joint) != 0 || f.Pairs != nil {
			t.Fatalf("%+v", f)
		}
		for id, want := range trueShares(m) {
			e := f.Noise
			if id != "noise" {
				s := f.share(id, "")
				if s.Separable != Separate {
					t.Errorf("%s is %s in a whole matrix", id, s.Separable)
				}
				e = s.Share
			}
			all++
			if *e.Lo <= want && want <= *e.Hi {
				hits++
			}
		}
	}
	if t.Logf("%d of %d", hits, all); float64(hits) < 0.92*float64(all) {
		t.Errorf("%d of %d true shares lie in their intervals", hits, all)
	}
}

// What cannot be told apart is said and not invented.
func TestFactorsConfounded(t *testing.T) {
	f := factors(t, recordtest.Confounded(), Options{})
	for _, id := range []string{"engine", "storage"} {
		if s := f.share(id, ""); s.Separable != Confounded || s.Share != nil || len(s.Among) != 1 {
			t.Errorf("%s: %+v", id, s)
		}
	}
	if len(f.Joint) != 1 || !slices.Equal(f.Joint[0].Factors, []string{"engine", "storage"}) || f.Joint[0].Share.Value < 0.7 {
		t.Errorf("%+v", f.Joint)
	}
	if s := f.share("runtime", ""); s.Separable != Separate || s.Share.Lo == nil {
		t.Errorf("runtime: %+v", s)
	}
	if f.share("engine", "storage") != nil {
		t.Error("engine and storage were never crossed, and have an interaction")
	}
	if f.Pairs == nil {
		t.Error("no share of all pairs, though some have none of their own")
	}
}

// A matrix with a hole has shares that depend on the order, and says so.
func TestFactorsUnbalanced(t *testing.T) {
	m := recordtest.Matrix()
	m.Envs = slices.Delete(m.Envs, 2, 5) // most of docker's
	f := factors(t, m, Options{})
	s := f.share("engine", "")
	if s.Separable != Range || s.Share == nil || math.Abs(s.Share.Value-s.Alone) < 0.001 {
		t.Errorf("%+v", s)
	}
	if f.share("files", "").Separable != Separate {
		t.Error("files are crossed with all environments")
	}
}

func TestFactorsLeaveOut(t *testing.T) {
	m := recordtest.Matrix()
	m.Envs[3].FailEvery, m.Envs[3].Class = 1, record.Crash
	m.Envs[6].Values = nil
	f := factors(t, m, Options{})
	if len(f.LeftOut) != 2 || f.LeftOut[0].Env != m.Envs[3].ID || f.Cells != 22 || f.Blocks != 12 {
		t.Errorf("%d cells, %d blocks, %+v", f.Cells, f.Blocks, f.LeftOut)
	}
	// One that fails in most blocks must not take the others' blocks away.
	m = recordtest.Matrix()
	m.Envs[5].FailEvery, m.Envs[5].Class = 1, record.Crash
	m.Envs[5].ID = "docker/vfs/crun"
	f = factors(t, m, Options{Engines: []string{"docker"}})
	if f.Cells != 10 || f.Fixed["engine"] != "docker" {
		t.Errorf("%d cells, %+v", f.Cells, f.Fixed)
	}
	c := matrix{cells: []matrixCell{{logs: []float64{1, 2, 3}}, {logs: []float64{math.NaN(), math.NaN(), 3}}}}
	if c.complete(); len(c.cells) != 1 || len(c.blocks) != 3 || !strings.Contains(c.left[0].Reason, "2 of 3") {
		t.Errorf("%+v", c)
	}
}

func TestFactorsNothingToSay(t *testing.T) {
	one := recordtest.Matrix()
	one.Envs, one.Workloads = one.Envs[:2], one.Workloads[:1]
	same := recordtest.Matrix()
	same.Envs[2].Environment.Levels = same.Envs[1].Levels
	same.Envs, same.Workloads = same.Envs[:3], same.Workloads[:1]
	short := recordtest.Matrix()
	short.Blocks = 1
	for want, spec := range map[string]analyzetest.Opener{"two environments": one, "no factor varies": same, "two blocks": short} {
		if f := factors(t, spec, Options{}); !strings.Contains(f.Missing, want) || len(f.Shares) > 0 {
			t.Errorf("%q, want %q", f.Missing, want)
		}
	}
	res := analyzetest.Run(t, recordtest.Matrix())
	for want, opts := range map[string]Options{
		"write-files@files=10": {Workload: "nothing"}, "it has": {Metric: "nothing"}, "docker, podman": {Engines: []string{"lxc"}},
	} {
		if _, err := Of(res, opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if f, err := Of(res, Options{Workload: "write-files@files=10", Metric: "startup"}); err != nil || f.Cells != 12 || f.Metric.ID != "startup" {
		t.Errorf("%+v, %v", f, err)
	}
	if got := len(Groups(res)); got != 1 {
		t.Errorf("%d groups", got)
	}
}

// What an environment was not asked for, its engine may say.
func TestFactorLevels(t *testing.T) {
	e := record.Environment{Levels: map[string]string{"storage": "vfs"}, Facts: map[string]string{"storage": "overlay", "runtime": "runc"}}
	if level(e, "storage") != "vfs" || level(e, "runtime") != "runc" || level(e, "client") != "" {
		t.Error("levels as asked, then as said, then none")
	}
	if !stats.Aliased([]int{0, 0, 1, 1}, []int{1, 1, 0, 0}) || stats.Aliased([]int{0, 0, 1, 1}, []int{0, 1, 0, 1}) {
		t.Error("aliased")
	}
}

// Groups are made of factors that are aliased in pairs; a factor that only
// several others together give away is of one group with all of them.
func TestConfoundedGroups(t *testing.T) {
	a, b := []int{0, 0, 1, 1, 0, 0, 1, 1}, []int{0, 1, 0, 1, 0, 1, 0, 1}
	c := []int{0, 0, 0, 0, 1, 1, 1, 1}
	if g := confounded([][]int{a, b, c, a, b}, []int{0, 1, 3, 4}); len(g) != 2 || !slices.Equal(g[0], []int{0, 3}) || !slices.Equal(g[1], []int{1, 4}) {
		t.Errorf("%v", g)
	}
	// Of these three no two are aliased, but the sum of two gives the third.
	x, y, z := []int{0, 0, 1}, []int{0, 1, 0}, []int{1, 0, 0}
	if g := confounded([][]int{x, y, z}, []int{0, 1, 2}); len(g) != 1 || len(g[0]) != 3 {
		t.Errorf("%v", g)
	}
}
