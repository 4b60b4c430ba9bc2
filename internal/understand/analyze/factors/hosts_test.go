package factors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// matrixOf is a host of two runtimes and two storage drivers: the driver makes a start
// 1.3 times as long everywhere, the runtime by what the host makes of it.
func matrixOf(r *rand.Rand, blocks int, speed, runtime, noise float64) *analyze.Result {
	res := &analyze.Result{Workloads: []analyze.Workload{{ID: "hello", Name: "hello", Show: []string{"startup"}}}}
	t := analyze.Table{Metric: record.Metric{ID: "startup", Title: "start-up", Unit: "ns", Better: record.LowerIsBetter}}
	for k := range 4 {
		e := record.Environment{ID: fmt.Sprint("e", k), Engine: "oci", Levels: map[string]string{"runtime": fmt.Sprint("r", k%2), "storage": fmt.Sprint("s", k/2)}}
		c := analyze.Cell{Env: e.ID}
		for range blocks {
			v := speed
			if k%2 == 1 {
				v *= runtime
			}
			if k/2 == 1 {
				v *= 1.3
			}
			c.ByBlock = append(c.ByBlock, v*(1+noise*r.NormFloat64()))
		}
		c.Median = &sample.Estimate{Value: c.ByBlock[0]}
		res.Environments = append(res.Environments, e)
		t.Cells = append(t.Cells, c)
	}
	res.Workloads[0].Tables = []analyze.Table{t}
	res.Run.Protocol.Seed = 1
	return res
}

// onHosts decomposes hosts, of which each makes something else of the runtime.
func onHosts(t *testing.T, r *rand.Rand, blocks int, runtime []float64, noise func(i int) float64) *OverHosts {
	t.Helper()
	g := OnHosts(Options{Metric: "startup"})
	for i, by := range runtime {
		if err := g.Add(fmt.Sprint("node", i+1), matrixOf(r, blocks, float64(1+i), by, noise(i))); err != nil {
			t.Fatal(err)
		}
	}
	return g.result()
}

func (f *OverHosts) share(t *testing.T, factor string) *HostShare {
	t.Helper()
	for i := range f.Shares {
		if f.Shares[i].Factor == factor && f.Shares[i].With == "" {
			return &f.Shares[i]
		}
	}
	t.Fatalf("no share of %s", factor)
	return nil
}

// The factor that depends on the host is found, and the one that does not is not.
func TestOnHosts(t *testing.T) {
	noise := func(int) float64 { return 0.01 }
	f := onHosts(t, rand.New(rand.NewPCG(1, 2)), 8, []float64{1.5, 1.02, 1.5, 1.02, 1.5, 1.02}, noise)
	runtime, storage := f.share(t, "runtime"), f.share(t, "storage")
	if !f.Pools || *runtime.Holm > 0.001 || *storage.Holm < 0.05 || *runtime.ByHost < 0.2 || *storage.ByHost > 0.02 {
		t.Errorf("runtime %+v, storage %+v", *runtime.ByHost, *storage.ByHost)
	}
	// On the hosts where the runtime does next to nothing the driver is nearly all.
	if runtime.Hosts[0].Value < 0.6 || runtime.Hosts[1].Value > 0.1 || storage.Hosts[1].Value < 0.9 {
		t.Errorf("runtime %+v %+v", runtime.Hosts[0], runtime.Hosts[1])
	}
	if m := storage.Mean; m == nil || *m.Lo > m.Value || *m.Hi > 1 || *m.Hi-*m.Lo < 0.2 {
		t.Errorf("the mean over hosts that differ: %+v", m)
	}
	// Hosts are up to six times as slow, and cells differ by less than two.
	if p := f.Parts; p == nil || p.Hosts < p.Cells || p.Both < p.Blocks || math.Abs(p.Cells+p.Hosts+p.Both+p.Blocks-1) > 1e-9 {
		t.Errorf("%+v", p)
	}
	few := onHosts(t, rand.New(rand.NewPCG(1, 2)), 8, []float64{1.5, 1.5, 1.5}, noise)
	if few.Pools || few.share(t, "runtime").Mean != nil || !strings.Contains(few.WhyNot, "it takes 5") || few.share(t, "runtime").P == nil {
		t.Errorf("three hosts: %+v", few)
	}
}

// Two runs of a host are one host with the blocks of both; cells that a host lacks are
// left out on all, and named.
func TestOnHostsUneven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := OnHosts(Options{Metric: "startup"})
	lacking := matrixOf(r, 8, 2, 1.5, 0.01)
	lacking.Workloads[0].Tables[0].Cells[3] = analyze.Cell{Env: "e3", Missing: "every trial failed"}
	for i, res := range []*analyze.Result{matrixOf(r, 8, 1, 1.5, 0.01), lacking, matrixOf(r, 6, 1, 1.5, 0.01)} {
		if err := g.Add([]string{"a", "b", "a"}[i], res); err != nil {
			t.Fatal(err)
		}
	}
	f := g.result()
	if len(f.Hosts) != 2 || f.Blocks[0] != 14 || f.Blocks[1] != 8 || f.Cells != 3 || f.Missing != "" {
		t.Errorf("%+v", f)
	}
	if len(f.LeftOut) != 2 || !strings.Contains(f.LeftOut[0].Reason, "on b: every trial failed") || !strings.Contains(f.LeftOut[1].Reason, "on a: not all hosts have it") {
		t.Errorf("%+v", f.LeftOut)
	}
}

// TestOnHostsRate: of factors that do the same on all hosts, at most about 5 % are said
// to depend on the host, where hosts are equally noisy and where one is four times as
// noisy as the others.
func TestOnHostsRate(t *testing.T) {
	for name, noise := range map[string]func(int) float64{
		"alike":     func(int) float64 { return 0.03 },
		"one noisy": func(i int) float64 { return []float64{0.12, 0.03}[min(i, 1)] },
	} {
		r, found := rand.New(rand.NewPCG(5, 6)), 0
		const n = 600
		for range n {
			f := onHosts(t, r, 5, []float64{1.5, 1.5, 1.5, 1.5, 1.5, 1.5}, noise)
			if *f.share(t, "runtime").P < 0.05 {
				found++
			}
		}
		if rate := float64(found) / n; rate > 0.08 {
			t.Errorf("%s: found in %.3f of simulations", name, rate)
		} else {
			t.Logf("%s: found in %.3f of simulations", name, rate)
		}
	}
}
