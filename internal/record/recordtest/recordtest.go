// Package recordtest makes runs with known truth: the same bytes for the same
// Spec, with chosen effects, failures, foreign clocks and exclusions.
//
// It is opinionated: what is generated is a real directory, written by the
// real writer, so that whatever is tested on it goes through the same door as
// a measurement.
package recordtest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// Env is one environment and the truth about it.
type Env struct {
	record.Environment
	// StartUp is the median of ready − request; 0 makes every trial fail.
	StartUp time.Duration
	// Sigma is the spread of the logarithm, 0.03 where it is 0.
	Sigma float64
	// Steps says that the engine has create and start of their own.
	Steps bool
	// FailEvery makes each n-th trial fail, 0 none, with Class.
	FailEvery int
	Class     record.Class
	// Drift is the growth of the log time from the first block to the last.
	Drift float64
	// FirstSlow multiplies the times of the first counted block, where not 0.
	FirstSlow float64
	// Humps multiplies the time of every other trial, where not 0.
	Humps float64
	// Quantum rounds the times, where not 0.
	Quantum time.Duration
	// Inside is what its payloads saw, where they saw anything.
	Inside record.Inside
	// More are further events, each as its share of the start-up.
	More map[record.Event]float64
	// Values are the true medians of the workload's own metrics.
	Values map[string]float64
	// Binary is the digest of the program that was measured.
	Binary string
}

// Spec describes a run.
type Spec struct {
	Name      string
	Seed      uint64
	Blocks    int
	Warmup    int
	PerBlock  int
	Envs      []Env
	Workloads []record.Workload
	Excluded  []record.Excluded
	// Shared is the spread of what all trials of a block have in common.
	Shared float64
	// StealEvery puts stolen time into each n-th trial.
	StealEvery int
	// Until stops after that many trials, as a killed run does; 0 runs all.
	Until   int
	Residue []string
	Agents  []record.Agent
	// Parts leave cells out that none of them has; Tables are the study's.
	Parts  []record.Part
	Tables []record.PaperTable
	// Claims are those that the study carries.
	Claims []record.Claim
	// Images are those that were bound to others.
	Images map[string]string
	// Sort is the metric that the study is sorted by.
	Sort string
	// ID and Started are the run's, where not empty.
	ID      string
	Started time.Time
	// Host says which machine it is, where it has a name: of the same kind as all, but
	// for the processor if that is named.
	Host record.Host
}

// asked says whether the run has this cell.
func (s Spec) asked(env, workload string) bool {
	return len(s.Parts) == 0 || slices.ContainsFunc(s.Parts, func(p record.Part) bool {
		return slices.Contains(p.Environments, env) && slices.Contains(p.Workloads, workload)
	})
}

var began = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func env(id, engine, baseline string, startUp time.Duration, levels ...string) Env {
	e := Env{StartUp: startUp}
	e.Environment = record.Environment{ID: id, Engine: engine, Baseline: baseline, Clock: record.ClockShared,
		Levels: map[string]string{}, Facts: map[string]string{"version": "0.1.2"}}
	for i := 0; i+1 < len(levels); i += 2 {
		e.Levels[levels[i]] = levels[i+1]
	}
	return e
}

// Typical is a run as a small machine gives it: three baselines, engines
// from fast to slow, two that are alike, one that fails at times, one always,
// one with a clock of its own, and two that could not run.
func Typical() Spec {
	s := Spec{
		Name: "quick", Seed: 42, Blocks: 10, Warmup: 1, PerBlock: 2, Shared: 0.03,
		Workloads: []record.Workload{{ID: "hello", Name: "hello", Title: "hello"}},
		Envs: []Env{
			env("host", "host", "host", 510*time.Microsecond),
			env("native", "native", "native", 560*time.Microsecond),
			env("floor", "floor", "floor", 940*time.Microsecond),
			env("charliecloud-directory", "charliecloud", "", 3400*time.Microsecond, "storage", "directory"),
			env("crun", "oci", "", 13*time.Millisecond, "runtime", "crun"),
			env("runc", "oci", "", 24*time.Millisecond, "runtime", "runc"),
			env("runsc", "oci", "", 140*time.Millisecond, "runtime", "runsc"),
			env("docker-api", "docker", "", 205*time.Millisecond, "client", "api"),
			env("docker-cli", "docker", "", 232*time.Millisecond, "client", "cli"),
			env("podman", "podman", "", 131*time.Millisecond, "rootless", "no"),
			env("podman-rootless", "podman", "", 132*time.Millisecond, "rootless", "yes"),
			env("docker-userns", "docker", "", 0, "client", "cli"),
		},
		Excluded: []record.Excluded{
			{ID: "apptainer-sif", Engine: "apptainer", Kind: "unavailable",
				Reason: "apptainer is not installed", Fix: "make lab ENGINE=apptainer"},
			{ID: "charliecloud-crun", Engine: "charliecloud", Kind: "impossible",
				Reason: "charliecloud has no OCI runtime to choose"},
		},
		StealEvery: 25,
	}
	for i := range s.Envs {
		e := &s.Envs[i]
		switch e.ID {
		case "crun", "runc", "docker-api":
			e.Steps = true
		case "runsc":
			e.Steps, e.Clock = true, record.ClockForeign
		case "podman-rootless":
			e.FailEvery, e.Class = 7, record.TimeOut
		case "docker-userns":
			e.FailEvery, e.Class = 1, record.EngineError
		}
	}
	return s
}

// Big is a plain run of about n trials.
func Big(n int) Spec {
	s := Typical()
	s.Name = "big"
	s.Envs = s.Envs[:10]
	s.PerBlock = 10
	s.Blocks = n / (s.PerBlock * len(s.Envs))
	s.StealEvery = 0
	return s
}

// Run is the spec's run.json.
func (s Spec) Run() *record.Run {
	r := &record.Run{
		Format: record.FormatVersion, ID: "0a1b2c3d", Started: began, Finished: began.Add(71 * time.Second), Status: "done",
		Tool:  record.Tool{Version: "0.1.0", Commit: "0123456789abcdef", Go: "go1.26", Probe: "sha256:00"},
		Study: record.Study{Name: s.Name, Title: "A synthetic run", Parts: s.Parts, Tables: s.Tables, Claims: s.Claims, Images: s.Images, Sort: s.Sort},
		Protocol: record.Protocol{Blocks: s.Blocks, Warmup: s.Warmup, PerBlock: s.PerBlock, Seed: s.Seed, Order: "random",
			Cache: "warm", CPUs: 1, MemoryBytes: 1 << 30, TrialLimitNS: int64(10 * time.Second), Delta: 0.01},
		Workloads: s.Workloads, Excluded: s.Excluded, Residue: s.Residue, Agents: s.Agents,
		Host: record.Host{Name: "lab", Kernel: "6.1.0", OS: "Debian GNU/Linux 12 (bookworm)", Arch: "amd64", CPU: "Imaginary 3000",
			CPUs: 2, Memory: 24 << 30, Cgroup: "v2", FileSystem: "ext4", Root: true},
	}
	if s.ID != "" {
		r.ID = s.ID
	}
	if s.Host.Name != "" {
		r.Host.Name, r.Host.Machine, r.Host.Boot, r.Host.CPU = s.Host.Name, s.Host.Machine, s.Host.Boot, cmp.Or(s.Host.CPU, r.Host.CPU)
	}
	if !s.Started.IsZero() {
		r.Started, r.Finished = s.Started, s.Started.Add(71*time.Second)
	}
	if s.Until > 0 {
		r.Status, r.Finished = "interrupted", time.Time{}
	}
	for _, e := range s.Envs {
		r.Environments = append(r.Environments, e.Environment)
	}
	return r
}

// Trials makes the trials. Each is valid until the next.
func (s Spec) Trials() iter.Seq[*record.Trial] {
	return func(yield func(*record.Trial) bool) {
		rng := rand.New(rand.NewPCG(s.Seed, 1))
		seq, now := 0, int64(1_000_000_000)
		order := make([]int, 0, len(s.Envs)*len(s.Workloads)*s.PerBlock)
		done := map[int]int{}
		for b := range s.Warmup + s.Blocks {
			order = order[:0]
			for i := range len(s.Envs) * len(s.Workloads) {
				if !s.asked(s.Envs[i%len(s.Envs)].ID, s.Workloads[i/len(s.Envs)].ID) {
					continue
				}
				for range s.PerBlock {
					order = append(order, i)
				}
			}
			rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			shared := s.Shared * rng.NormFloat64()
			for _, cell := range order {
				e := &s.Envs[cell%len(s.Envs)]
				t := s.trial(rng, e, b, shared, done[cell], now)
				t.Seq, t.Workload = seq, s.Workloads[cell/len(s.Envs)].ID
				done[cell]++
				seq++
				now += 1_000_000_000
				if !yield(t) || seq == s.Until {
					return
				}
			}
		}
	}
}

func (s Spec) trial(rng *rand.Rand, e *Env, block int, shared float64, nth int, now int64) *record.Trial {
	t := &record.Trial{Block: block, Warmup: block < s.Warmup, Env: e.ID, Inside: e.Inside.ID, Clock: e.Clock, At: began.Add(time.Duration(now))}
	sigma := cmp.Or(e.Sigma, 0.03)
	counted := block - s.Warmup
	log := shared + sigma*rng.NormFloat64()
	if s.Blocks > 1 {
		log += e.Drift * float64(counted) / float64(s.Blocks-1)
	}
	scale := math.Exp(log)
	if t.Warmup {
		scale *= 1.5
	}
	if counted == 0 && e.FirstSlow != 0 {
		scale *= e.FirstSlow
	}
	if e.Humps != 0 && nth%2 == 1 {
		scale *= e.Humps
	}
	if e.StartUp == 0 || e.FailEvery > 0 && nth%e.FailEvery == e.FailEvery-1 {
		t.Failure = &record.Failure{Class: e.Class, Text: fmt.Sprintf("%s said no \x1b[31m(as it was told to)\x1b[0m", e.ID)}
		t.Output = record.OutputName(0)
		return t
	}
	start := float64(e.StartUp.Nanoseconds()) * scale
	if q := float64(e.Quantum.Nanoseconds()); q > 0 {
		start = math.Round(start/q) * q
	}
	at := func(f float64) int64 { return now + int64(start*f) }
	own := int64(0) // the container's own clock
	if e.Clock == record.ClockForeign {
		own = 77_000_000_000_000
	}
	t.Events = map[record.Event]int64{
		record.Request: now, record.First: at(0.97) + own, record.Ready: at(1),
		record.Done: at(0.97) + 120_000 + own, record.Exit: at(1.1) + 120_000, record.Removed: at(1.3) + 120_000,
	}
	if e.Steps {
		t.Events[record.Created], t.Events[record.Start], t.Events[record.Started] = at(0.6), at(0.61), at(0.99)
	}
	for event, share := range e.More {
		t.Events[event] = at(share)
		if event.Inside() {
			t.Events[event] += own
		}
	}
	t.Client = &record.Usage{UserNS: int64(start * 0.1), SystemNS: int64(start * 0.05), MaxRSS: 20 << 20}
	if s.StealEvery > 0 && nth%s.StealEvery == s.StealEvery-1 {
		t.Host = &record.Disturbance{StealNS: int64(start * 0.05)}
	}
	t.Binary = e.Binary
	for _, id := range slices.Sorted(maps.Keys(e.Values)) {
		if t.Values == nil {
			t.Values = map[string]float64{}
		}
		t.Values[id] = e.Values[id] * math.Exp(sigma*rng.NormFloat64())
	}
	return t
}

// Write writes the run to a directory of the test and gives its path.
func (s Spec) Write(tb testing.TB) string {
	tb.Helper()
	return s.write(tb, Spec.Trials)
}

func (s Spec) write(tb testing.TB, trials func(Spec) iter.Seq[*record.Trial]) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "run")
	w, err := record.Create(dir, s.Run())
	require.NoError(tb, err)
	defer w.Close()
	s.Envs = slices.Clone(s.Envs)
	for i := range s.Envs {
		e := &s.Envs[i]
		if e.Inside.Kernel == "" {
			continue
		}
		e.Inside.Env = e.ID
		if e.Inside.ID, err = w.AddInside(e.Inside); err != nil {
			tb.Fatal(err)
		}
	}
	for t := range trials(s) {
		require.NoError(tb, w.Append(t))
	}
	require.NoError(tb, errors.Join(w.Update(s.Run()), w.Close()))
	return dir
}

// Open writes the run and opens it.
func (s Spec) Open(tb testing.TB) *record.Reader {
	tb.Helper()
	return open(tb, s.Write(tb))
}

// Edited is a run whose trials are changed by Each before they are written.
type Edited struct {
	Spec
	Each func(*record.Trial)
}

// Write writes the run to a directory of the test and gives its path.
func (e Edited) Write(tb testing.TB) string {
	tb.Helper()
	return e.write(tb, func(s Spec) iter.Seq[*record.Trial] {
		return func(yield func(*record.Trial) bool) {
			for t := range s.Trials() {
				if e.Each != nil && t.OK() {
					e.Each(t)
				}
				if !yield(t) {
					return
				}
			}
		}
	})
}

// Open writes the run and opens it.
func (e Edited) Open(tb testing.TB) *record.Reader {
	tb.Helper()
	return open(tb, e.Write(tb))
}

func open(tb testing.TB, dir string) *record.Reader {
	tb.Helper()
	r, err := record.Open(dir)
	require.NoError(tb, err)
	return r
}
