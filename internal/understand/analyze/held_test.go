package analyze_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// columns are values by environment and block, NaN where a block has none.
type columns struct {
	name   string
	envs   []string
	values [][]float64
}

// evaluated analyses columns as if they had been measured.
func (c columns) evaluated(t *testing.T) *analyze.Result {
	t.Helper()
	run := &record.Run{Format: record.FormatVersion, ID: c.name, Status: "done", Study: record.Study{Name: "held"}, Protocol: record.Protocol{Order: "random"},
		Workloads: []record.Workload{{ID: "w", Metrics: []record.Metric{{ID: "time", Unit: "ns", Better: record.LowerIsBetter}}}}}
	var trials []record.Trial
	for e, id := range c.envs {
		env := record.Environment{ID: id, Engine: id, Levels: map[string]string{}}
		if slices.Contains(analyze.Baselines, id) {
			env.Baseline = id
		}
		run.Environments = append(run.Environments, env)
		for b, v := range c.values[e] {
			if !math.IsNaN(v) {
				trials = append(trials, record.Trial{Seq: len(trials), Block: b, Env: id, Workload: "w", Values: map[string]float64{"time": v}})
			}
		}
	}
	res, err := evaluate.Run(record.InMemory(run, trials), evaluate.Options{})
	require.NoError(t, err)
	return res
}

// simulated makes the columns of a seed: log-normal values of blocks that differ, some
// environments alike and some not, with ties, drift, two humps, wild values and gaps.
// In the second of two runs some environments have changed.
func simulated(seed uint64, second bool) columns {
	r := rand.New(rand.NewPCG(seed, 1)) // what both runs have in common
	sizes := []int{3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 31, 49, 50, 51, 64, 100, 200, 400, 1500}
	n, envs := sizes[seed%uint64(len(sizes))], 2+r.IntN(6)
	round := []float64{0, 0, 0.01, 0.03, 0.1}[r.IntN(5)]
	drift, humps, wild, gaps := 0.1*float64(r.IntN(3)), 0.3*float64(r.IntN(2)), 0.05*float64(r.IntN(2)), 0.1*float64(r.IntN(2)*r.IntN(2))
	own, shared := 0.01*float64(1+r.IntN(5)), 0.03*float64(r.IntN(3))
	c := columns{name: fmt.Sprintf("%03d-n%d-round%v-drift%v-humps%v-wild%v-gaps%v", seed, n, round, drift, humps, wild, gaps), envs: []string{"native", "floor"}[:r.IntN(3)]}
	for len(c.envs) < envs {
		c.envs = append(c.envs, string(rune('a'+len(c.envs))))
	}
	centers := make([]float64, envs)
	for e := range centers {
		centers[e] = []float64{0, 0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.3, 3}[r.IntN(9)]
		if change := []float64{0, 0, 0.01, 0.05, 0.2}[r.IntN(5)]; second && e > 1 {
			centers[e] += change
		}
	}
	if second {
		c.name += "-again"
		r = rand.New(rand.NewPCG(seed, 2))
	}
	c.values = make([][]float64, envs)
	for b := range n {
		block := shared*r.NormFloat64() + drift*float64(b)/float64(n)
		for e := range c.values {
			log := centers[e] + block + own*r.NormFloat64()
			if r.IntN(2) == 0 {
				log += humps * float64(e%2)
			}
			if r.Float64() < wild {
				log += 2 * r.ExpFloat64()
			}
			v := math.Exp(log)
			if round > 0 {
				v = math.Max(round, round*math.Round(v/round))
			}
			if r.Float64() < gaps {
				v = math.NaN()
			}
			c.values[e] = append(c.values[e], v)
		}
	}
	return c
}

// everarts are times of repetitions that Everarts published, in the same way.
func everarts() (out []columns) {
	type key struct{ workload, size, phase string }
	at := map[key]int{}
	for _, r := range published.EverartsData() {
		if r.Size != "" && r.Size != "xs" {
			continue
		}
		for phase, v := range map[string]float64{"create": r.Create, "exec": r.Exec, "response": r.Response} {
			if !(v > 0) {
				continue
			}
			k := key{r.Workload, r.Size, phase}
			if _, ok := at[k]; !ok {
				at[k], out = len(out), append(out, columns{name: strings.Join([]string{"real", r.Workload, r.Size, phase}, "-")})
			}
			c := &out[at[k]]
			e := slices.Index(c.envs, r.Configuration()+r.Image)
			if e < 0 {
				e, c.envs, c.values = len(c.envs), append(c.envs, r.Configuration()+r.Image), append(c.values, nil)
			}
			for len(c.values[e]) < r.Number {
				c.values[e] = append(c.values[e], math.NaN())
			}
			c.values[e][r.Number-1] = v
		}
	}
	slices.SortFunc(out, func(a, b columns) int { return strings.Compare(a.name, b.name) })
	return out
}

// sums are numbers of which one cannot change without them: each has a weight of its own.
type sums struct {
	n   int
	all [6]float64
}

func (s *sums) add(e *sample.Estimate, p *float64, rest ...float64) {
	s.n++
	x := []float64{0, 0, 0, 0}
	if e != nil {
		x[0] = e.Value
		if e.Lo != nil {
			x[1], x[2] = *e.Lo, *e.Hi
		}
	}
	if p != nil {
		x[3] = math.Log(max(*p, 1e-30))
	}
	_, weight := math.Modf(float64(s.n) * math.Phi)
	for i, v := range append(x, rest...) {
		s.all[i] += (1 + weight) * v
	}
}

func (s *sums) String() string { return fmt.Sprintf("%.12g", s.all) }

func initial(verdict string) string { return (verdict + "-")[:1] }

// held is what a table says: the answers of pairs and ratios, letters and places, and
// the sums of the numbers behind them.
func held(t *analyze.Table) string {
	var pairs, ratios, letters []string
	var s, q sums
	for i := range t.Pairs {
		p := &t.Pairs[i]
		pairs = append(pairs, initial(string(p.Verdict)))
		s.add(&p.Estimate, p.P, p.Cliff, float64(p.BlocksNeeded))
	}
	for i := range t.Cells {
		c := &t.Cells[i]
		letters = append(letters, c.Group+c.Places.String())
		for k := range c.Ratios {
			r := &c.Ratios[k]
			ratios = append(ratios, initial(string(r.Verdict)))
			q.add(&r.Estimate, r.P, r.Cliff, float64(r.BlocksNeeded))
		}
	}
	return fmt.Sprintf("%s %s %s %s %v %v", t.Test, strings.Join(pairs, ""), strings.Join(ratios, ""), strings.Join(letters, ","), &s, &q)
}

// TestAnswersHold holds verdicts, letters, places and, to nine digits, the numbers behind
// them of some 200 made-up runs, of the change between two of them, and of published data.
func TestAnswersHold(t *testing.T) {
	var b strings.Builder
	for seed := range uint64(190) {
		one := simulated(seed, false)
		first := one.evaluated(t)
		fmt.Fprintln(&b, one.name, held(first.Workloads[0].Table("time")))
		if len(one.values[0]) > 100 {
			continue
		}
		changes, err := compare.Between(first, simulated(seed, true).evaluated(t), compare.Options{})
		require.NoError(t, err)
		var s sums
		verdicts := ""
		for i := range changes.Cells {
			c := &changes.Cells[i]
			verdicts += " " + string(c.Verdict)
			s.add(c.Ratio, c.P, float64(c.BlocksNeeded))
		}
		fmt.Fprintln(&b, one.name, "changes"+verdicts, &s)
	}
	for _, c := range everarts() {
		fmt.Fprintln(&b, c.name, held(c.evaluated(t).Workloads[0].Table("time")))
	}
	const path = "testdata/held.txt"
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	got := b.String()
	if alike(got, string(want)) {
		got = string(want)
	}
	golden.Check(t, path, got)
}

// alike says whether two texts differ in nothing but rounding of numbers.
func alike(a, b string) bool {
	number := func(r rune) bool { return strings.ContainsRune(" []\n", r) }
	x, y := strings.FieldsFunc(a, number), strings.FieldsFunc(b, number)
	return slices.EqualFunc(x, y, func(s, t string) bool {
		v, err := strconv.ParseFloat(s, 64)
		w, also := strconv.ParseFloat(t, 64)
		return s == t || err == nil && also == nil && math.Abs(v-w) <= 1e-9*math.Max(1, math.Abs(v))
	})
}
