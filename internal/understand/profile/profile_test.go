package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

func all(t testing.TB) []advise.Profile {
	t.Helper()
	var out []advise.Profile
	for _, n := range Names() {
		p, err := Bundled(n)
		require.NoError(t, err)
		out = append(out, p)
	}
	return out
}

// shares are the profile's weights by metric, of length 1 together.
func shares(p advise.Profile) map[string]float64 {
	out, sum := map[string]float64{}, 0.0
	for _, c := range p.Criteria {
		out[c.Metric] += c.Weight
	}
	for _, w := range out {
		sum += w * w
	}
	for m := range out {
		out[m] /= math.Sqrt(sum)
	}
	return out
}

// archetype is better than the others in each metric by the exponential of k
// times what a profile gives it. By Cauchy and Schwarz no other environment
// whose gains have the same length can beat it there.
func archetype(id string, gains map[string]float64, k float64, better map[string]record.Direction) recordtest.Env {
	value := func(m string, base float64) float64 {
		if better[m] == record.HigherIsBetter {
			return base * math.Exp(k*gains[m])
		}
		return base * math.Exp(-k*gains[m])
	}
	e := recordtest.Env{StartUp: time.Duration(value("startup", 50e6)), Sigma: 0.01, Values: map[string]float64{}}
	e.Environment = record.Environment{ID: id, Engine: id, Clock: record.ClockShared,
		Facts: map[string]string{"rootless": "yes", "daemon": "none", "held": "engine", "limits": "engine", "network": "bridge", "runtime": "runc"}}
	e.Inside = record.Inside{Namespaces: map[string]string{"net": "own", "user": "own"}, UIDMap: "0 1000 1", Seccomp: "2", Kernel: "6.1.0"}
	start := float64(e.StartUp)
	e.More = map[record.Event]float64{record.Removed: value("whole", 400e6) / start, record.Stop: 0, record.Stopped: value("stop", 30e6) / start}
	for m := range better {
		e.Values[m] = value(m, 1000)
	}
	return e
}

// suite is a run of all that any profile asks for.
func suite(profiles []advise.Profile, envs func(map[string]record.Direction) []recordtest.Env) recordtest.Spec {
	better := map[string]record.Direction{}
	var works []record.Workload
	for _, p := range profiles {
		for _, c := range p.Criteria {
			better[c.Metric] = c.Better
			id, params := c.Workload, map[string]string{}
			for k, l := range c.Params {
				params[k], id = l[0], id+"/"+l[0]
			}
			i := slices.IndexFunc(works, func(w record.Workload) bool { return w.ID == id })
			if i < 0 {
				i = len(works)
				works = append(works, record.Workload{ID: id, Name: c.Workload, Params: params})
			}
			m := record.Metric{ID: c.Metric, Unit: "x", Better: c.Better, Title: c.Metric}
			if _, life := record.MetricByID(c.Metric); !life && !slices.Contains(works[i].Metrics, m) {
				works[i].Metrics = append(works[i].Metrics, m)
			}
		}
	}
	s := recordtest.Spec{Name: "suite", Seed: 9, Blocks: 8, PerBlock: 1, Shared: 0.03, Workloads: works, Envs: envs(better)}
	s.Envs[0].Baseline = "native"
	return s
}

func result(t testing.TB, s recordtest.Spec) *analyze.Result {
	t.Helper()
	r, err := evaluate.Run(s.Open(t), evaluate.Options{})
	require.NoError(t, err)
	return r
}

// On a run of which it is known what is best for each use, each profile finds it.
func TestEachProfileFindsItsBest(t *testing.T) {
	profiles := all(t)
	res := result(t, suite(profiles, func(better map[string]record.Direction) []recordtest.Env {
		envs := []recordtest.Env{archetype("native", nil, 0, better)}
		for _, p := range profiles {
			envs = append(envs, archetype("for-"+p.Name, shares(p), 1.5, better))
		}
		return envs
	}))
	for _, p := range profiles {
		a, err := advise.Run([]*analyze.Result{res}, nil, p, advise.Options{Draws: 500})
		require.NoError(t, err)
		if len(a.Ranked) != len(profiles) || a.Ranked[0].Env != "for-"+p.Name || a.Verdict.Outcome != advise.First || !a.Ranked[0].Front {
			t.Errorf("%s: %+v, first %s of %d, refused %d", p.Name, a.Verdict, a.Ranked[0].Env, len(a.Ranked), len(a.Refused))
		}
		if s := a.Sensitivity.First[0]; s.Share < 0.5 {
			t.Errorf("%s: first for %.0f %% of the weights around", p.Name, 100*s.Share)
		}
	}
}

// without takes a property away from an environment, or the knowledge of it.
func without(e *recordtest.Env, word string, known bool) {
	fact := func(key, value string) {
		if e.Facts[key] = value; !known {
			delete(e.Facts, key)
		}
	}
	switch word {
	case "rootless":
		fact("rootless", "no")
	case "daemonless":
		fact("daemon", "user's")
	case "detached":
		fact("held", "background")
	case "own-network":
		fact("network", "host")
		e.Inside.Namespaces["net"] = map[bool]string{true: "host"}[known]
	case "syscall-filter":
		e.Inside.Seccomp = map[bool]string{true: "0"}[known]
	case "user-namespace":
		e.Inside.Namespaces["user"] = map[bool]string{true: "host"}[known]
	case "own-kernel": // nobody here has one
	default:
		panic("nothing is known here of " + word)
	}
}

// However good its numbers, what lacks something required never passes, nor
// what is not known to have it.
func TestConstraintsHold(t *testing.T) {
	for _, p := range all(t) {
		var barred []string
		res := result(t, suite([]advise.Profile{p}, func(better map[string]record.Direction) []recordtest.Env {
			envs := []recordtest.Env{archetype("native", nil, 0, better), archetype("allowed", shares(p), 0.1, better), archetype("allowed-too", shares(p), 0, better)}
			for i, d := range p.Require {
				for _, known := range []bool{true, false} {
					e := archetype(fmt.Sprintf("barred-%d-%v", i, known), shares(p), 3, better)
					for _, w := range d.Is {
						without(&e, w, known)
					}
					envs, barred = append(envs, e), append(barred, e.ID)
				}
			}
			return envs
		}))
		a, err := advise.Run([]*analyze.Result{res}, nil, p, advise.Options{Draws: 10})
		require.NoError(t, err)
		if len(a.Ranked) != 2 || a.Ranked[0].Env != "allowed" || len(a.Refused) != len(barred) || len(barred) != 2*len(p.Require) {
			t.Errorf("%s: ranked %+v, refused %+v", p.Name, a.Ranked, a.Refused)
		}
		for _, r := range a.Refused {
			want := advise.No
			if strings.HasSuffix(r.Env, "false") {
				want = advise.Unknown
			}
			// A filter that nobody saw, beside a kernel that is the host's, is not known.
			if got := r.Require[0].State; got != want {
				t.Errorf("%s: %s is %s, want %s: %+v", p.Name, r.Env, got, want, r.Require)
			}
		}
	}
}
