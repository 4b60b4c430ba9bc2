package recordtest

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"plimsoll/internal/record"
)

// matrixMetric is the metric of a MatrixSpec.
const matrixMetric = "time"

// Effects are the truth about a matrix: what a level multiplies the value by,
// by factor or parameter and level, as natural logarithms. The effect of two
// together stands under both names, "storage=vfs runtime=crun". A level that
// is not named multiplies by 1.
type Effects map[string]float64

// MatrixSpec is a run over a matrix of environments and workload parameters.
type MatrixSpec struct {
	Spec
	Effects Effects
	// Noise is the standard deviation of a block's logarithm in one cell.
	Noise float64
}

// Matrix is a whole factorial run: two engines, three storage drivers and two
// runtimes, with 10 and 1000 files. The storage driver matters most, twice
// as much with many files.
func Matrix() MatrixSpec {
	m := MatrixSpec{Noise: 0.02, Spec: Spec{Name: "matrix", Seed: 11, Blocks: 12, Warmup: 1, PerBlock: 1, Shared: 0.05},
		Effects: Effects{
			"storage=vfs": 0.6, "storage=btrfs": 0.2, "runtime=runc": 0.1, "engine=podman": 0.15, "files=1000": 0.3,
			"storage=vfs files=1000": 0.3,
		}}
	m.Envs = append(m.Envs, env("native", "native", "native", time.Millisecond))
	for _, e := range []string{"docker", "podman"} {
		for _, s := range []string{"overlay", "btrfs", "vfs"} {
			for _, r := range []string{"crun", "runc"} {
				m.Envs = append(m.Envs, env(e+"/"+s+"/"+r, e, "", time.Millisecond, "storage", s, "runtime", r))
			}
		}
	}
	for _, n := range []int{10, 1000} {
		m.Workloads = append(m.Workloads, written("write-files", n))
	}
	return m
}

// Confounded is a matrix from which nobody can tell the engine from its
// storage driver, since each has one of its own.
func Confounded() MatrixSpec {
	m := Matrix()
	m.Name = "confounded"
	kept := m.Envs[:1:1]
	for _, e := range m.Envs[1:] {
		if (e.Engine == "docker") == (e.Levels["storage"] == "overlay") && e.Levels["storage"] != "btrfs" {
			kept = append(kept, e)
		}
	}
	m.Envs = kept
	return m
}

// Suite has four workloads, two of them of one name and one of which more is
// better, and an environment that has no value of one.
func Suite() MatrixSpec {
	m := Matrix()
	m.Name = "suite"
	m.Envs = append(m.Envs[:1:1], m.Envs[1], m.Envs[5], env("flaky", "flaky", "", time.Millisecond))
	m.Workloads = []record.Workload{written("files", 10), written("files", 1000), written("copy", 0), written("requests", 0)}
	m.Workloads[3].Metrics[0] = record.Metric{ID: "rate", Unit: "1/s", Better: record.HigherIsBetter, Title: "rate", What: "requests a second"}
	m.Effects["storage=overlay"], m.Effects["engine=flaky"] = 0.02, 0.5
	m.Effects["workload=requests storage=overlay"], m.Effects["workload=requests storage=vfs"] = -0.3, -1.2
	return m
}

func written(name string, files int) record.Workload {
	w := record.Workload{ID: name, Name: name, Title: name,
		Metrics: []record.Metric{{ID: matrixMetric, Unit: "ns", Better: record.LowerIsBetter, Title: "time", What: "until all is written"}}}
	if files > 0 {
		n := strconv.Itoa(files)
		w.ID, w.Title, w.Params = fmt.Sprintf("%s@files=%s", name, n), name+" "+n, map[string]string{"files": n}
	}
	return w
}

// Write writes the run to a directory of the test and gives its path.
func (m MatrixSpec) Write(tb testing.TB) string {
	tb.Helper()
	return m.write(tb, func(s Spec) iter.Seq[*record.Trial] {
		m.Spec = s
		return m.Trials()
	})
}

// Open writes the run and opens it.
func (m MatrixSpec) Open(tb testing.TB) *record.Reader {
	tb.Helper()
	return open(tb, m.Write(tb))
}

// Value is the true median of the workload's metric.
func (m MatrixSpec) Value(env int, w record.Workload) float64 {
	e := m.Envs[env]
	var names []string
	for k, v := range e.Levels {
		names = append(names, k+"="+v)
	}
	for k, v := range w.Params {
		names = append(names, k+"="+v)
	}
	names = append(names, "engine="+e.Engine, "workload="+w.Name)
	log := math.Log(3e6)
	for i, a := range names {
		log += m.Effects[a]
		for k, b := range names {
			if k != i {
				log += m.Effects[a+" "+b]
			}
		}
	}
	return math.Exp(log)
}

// Trials makes the trials of the matrix. Each is valid until the next.
func (m MatrixSpec) Trials() iter.Seq[*record.Trial] {
	return func(yield func(*record.Trial) bool) {
		rng := rand.New(rand.NewPCG(m.Seed, 2))
		block, shared := -1, 0.0
		for t := range m.Spec.Trials() {
			if t.Block != block {
				block, shared = t.Block, m.Shared*rng.NormFloat64()
			}
			noise := math.Exp(shared + m.Noise*rng.NormFloat64())
			e, w := m.indices(t)
			flaky := m.Envs[e].ID == "flaky" && m.Workloads[w].Name == "copy"
			if t.Failure == nil && !flaky {
				t.Values = map[string]float64{m.Workloads[w].Metrics[0].ID: m.Value(e, m.Workloads[w]) * noise}
			}
			if !yield(t) {
				return
			}
		}
	}
}

func (m MatrixSpec) indices(t *record.Trial) (env, workload int) {
	for i := range m.Envs {
		if m.Envs[i].ID == t.Env {
			env = i
		}
	}
	for i := range m.Workloads {
		if m.Workloads[i].ID == t.Workload {
			workload = i
		}
	}
	return env, workload
}
