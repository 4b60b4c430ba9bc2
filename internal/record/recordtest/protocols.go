package recordtest

import (
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// ramp is the truth about the ramps of one environment.
type ramp struct {
	Start, StartEach, Stop int64 // ns; StartEach is added for each that runs
	// Payload, Monitor, Daemon and Kernel are what one container more takes,
	// bytes; Leak stays with the daemon.
	Payload, Monitor, Daemon, Kernel, Leak int64
	Limit                                  *record.Limit
}

// steps makes a ramp of n containers with a spread of sigma in its times and
// noise bytes in what the machine says.
func (r ramp) steps(rng *rand.Rand, n int, sigma float64, noise int64) []record.DensityStep {
	var out []record.DensityStep
	at, ever := int64(1e12), int64(0)
	spread := func(v int64) int64 { return int64(float64(v) * (1 + sigma*rng.NormFloat64())) }
	memory := func(k int64) *record.Memory {
		payload, monitor, daemon := k*r.Payload, k*r.Monitor, 50<<20+k*r.Daemon+ever*r.Leak
		kernel := 200<<20 + k*r.Kernel + int64(float64(noise)*rng.NormFloat64())
		host := 1<<30 + payload + monitor + daemon + kernel
		return &record.Memory{Payload: &payload, Monitor: &monitor, Daemon: &daemon, Kernel: &kernel, Host: &host}
	}
	add := func(s record.DensityStep) {
		s.At = at
		out = append(out, s)
	}
	add(record.DensityStep{Phase: record.RampBefore, Memory: memory(0)})
	for k := int64(1); k <= int64(n); k++ {
		begin := at
		at += spread(r.Start + (k-1)*r.StartEach)
		ever++
		add(record.DensityStep{Phase: record.RampUp, N: int(k), Memory: memory(k),
			Events: map[record.Event]int64{record.Request: begin, record.Ready: at}})
	}
	if r.Limit != nil {
		add(record.DensityStep{Phase: record.RampLimit, N: n, Limit: r.Limit})
	}
	zero, used := int64(0), int64(n)*40_000
	add(record.DensityStep{Phase: record.RampRest, N: n, Memory: memory(int64(n)),
		Idle: &record.Idle{OverNS: 2e9, Payload: &zero, Monitor: &used, Daemon: &zero}})
	for k := int64(n) - 1; k >= 0; k-- {
		begin := at
		at += spread(r.Stop)
		add(record.DensityStep{Phase: record.RampDown, N: int(k), Memory: memory(k),
			Events: map[record.Event]int64{record.Stop: begin, record.Exit: at - 1000, record.Removed: at}})
	}
	add(record.DensityStep{Phase: record.RampAfter, Memory: memory(0)})
	return out
}

// Protocols writes a run of whole protocols: ramps in two environments, one of
// which ends at a limit, an open loop of a given rate, and a search. stored,
// where given, are the values that earlier versions wrote beside each series.
func Protocols(tb testing.TB, ramps int, stored func(density []record.DensityStep, load []record.LoadStep, search bool) map[string]float64) *record.Reader {
	tb.Helper()
	s := Typical()
	s.Name, s.Blocks, s.Warmup, s.PerBlock, s.Excluded = "density", ramps, 0, 1, nil
	s.Envs = []Env{s.Envs[7], s.Envs[9]}
	s.Workloads = []record.Workload{
		{ID: "density", Name: "density", Title: "density", Params: map[string]string{"count": "40"}, Metrics: record.DensityMetrics},
		{ID: "load", Name: "load", Title: "load", Metrics: record.LoadMetrics},
		{ID: "search", Name: "load", Title: "search", Metrics: record.LoadMetrics},
	}
	dir := filepath.Join(tb.TempDir(), "run")
	w, err := record.Create(dir, s.Run())
	require.NoError(tb, err)
	rng := rand.New(rand.NewPCG(s.Seed, 9))
	truth := []ramp{
		{Start: 200e6, StartEach: 500e3, Stop: 150e6, Payload: 64 << 20, Monitor: 3 << 20, Daemon: 100 << 10, Kernel: 600 << 10, Leak: 1 << 20},
		{Start: 130e6, StartEach: 20e3, Stop: 90e6, Payload: 64 << 20, Monitor: 1 << 20, Kernel: 400 << 10,
			Limit: &record.Limit{Class: record.LimitBridge, Text: "ports of the bridge podman0: 1023 of 1023 are used; the engine said: exchange full", Used: 1023, Max: 1023}},
	}
	seq := 0
	for block := range ramps {
		for e := range s.Envs {
			for k, work := range s.Workloads {
				t := &record.Trial{Seq: seq, Block: block, Env: s.Envs[e].ID, Workload: work.ID, Params: work.Params, At: began}
				seq++
				var density []record.DensityStep
				var load []record.LoadStep
				name := record.LoadSamples
				switch k {
				case 0:
					name = record.DensitySamples
					density = truth[e].steps(rng, 40-15*e, 0.02, 200<<10)
				case 1:
					load = openLoop(rng, 0, 20, 200, int64(200e6/(e+1)), e)
				case 2:
					load = search(rng, e)
				}
				if stored != nil {
					t.Values = stored(density, load, k == 2)
				}
				t.Samples = append(t.Samples, writeSeries(tb, w, t.Seq, name, density, load))
				require.NoError(tb, w.Append(t))
			}
		}
	}
	require.NoError(tb, w.Close())
	r, err := record.Open(dir)
	require.NoError(tb, err)
	return r
}

// openLoop makes arrivals at equal gaps that take about life, ns. Of those of
// the second environment every fiftieth fails.
func openLoop(rng *rand.Rand, probe int, rate float64, n int, life int64, env int) []record.LoadStep {
	var out []record.LoadStep
	sum := record.LoadProbe{Rate: rate, Arrivals: n, MaxInFlight: 7}
	var last int64
	for i := range n {
		at := int64(1e12 + float64(i)*1e9/rate)
		took := life + int64(float64(life)*0.2*rng.Float64())
		s := record.LoadStep{Probe: probe, Intended: at, Request: at + 50_000, InFlight: i % 7}
		if env == 1 && i%50 == 49 {
			s.Class = record.EngineError
			sum.Failed++
		} else {
			s.Ready, s.Removed = at+took, at+2*took
			sum.Done++
			last = s.Removed
		}
		out = append(out, s)
	}
	sum.Achieved = float64(sum.Done) / (float64(last-int64(1e12)) / 1e9)
	return append(out, record.LoadStep{Probe: probe, Sum: &sum})
}

// search makes the probes of a search that ends between 40 and 44 a second.
func search(rng *rand.Rand, env int) []record.LoadStep {
	out := openLoop(rng, 0, 5, 3, 100e6, 0)
	for i, p := range []struct {
		rate  float64
		holds bool
	}{{10, true}, {20, true}, {40, true}, {80, false}, {44, false}} {
		rate := p.rate / float64(env+1)
		steps := openLoop(rng, i+1, rate, 72, 100e6, 0)
		steps[len(steps)-1].Sum.Holds = p.holds
		out = append(out, steps...)
	}
	return out
}

func writeSeries(tb testing.TB, w *record.Writer, seq int, collector string, density []record.DensityStep, load []record.LoadStep) string {
	tb.Helper()
	f, err := w.CreateSamples(seq, collector)
	require.NoError(tb, err)
	write := func(to io.Writer) error { return record.WriteLines(to, density) }
	if load != nil {
		write = func(to io.Writer) error { return record.WriteLines(to, load) }
	}
	require.NoError(tb, write(f))
	require.NoError(tb, f.Close())
	name, err := record.SamplesName(seq, collector)
	require.NoError(tb, err)
	return name
}
