package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// crowded is a session with four engines beside the baselines, each of which follows
// the machine by the power of its own (1 where none is given), and changes by a factor.
func crowded(t *testing.T, seed uint64, speed float64, follows, changed map[string]float64) *analyze.Result {
	t.Helper()
	return analyzetest.Run(t, crowdedSpec(seed, speed, follows, changed))
}

func crowdedSpec(seed uint64, speed float64, follows, changed map[string]float64) recordtest.Spec {
	s := recordtest.Typical()
	s.Seed, s.Blocks, s.PerBlock, s.StealEvery, s.Excluded = seed, 20, 1, 0, nil
	s.Envs = slices.Clone(s.Envs[1:10])                    // native to podman, without host
	s.Envs = slices.Delete(slices.Clone(s.Envs), 5, 6)     // not runsc
	s.ID = fmt.Sprintf("s%07d", seed)                      // each run has its own
	s.Started = time.Unix(1.8e9+int64(seed)*3600, 0).UTC() // and its time
	for i := range s.Envs {
		e := &s.Envs[i]
		power, by := 1.0, 1.0
		if v, ok := follows[e.ID]; ok {
			power = v
		}
		if v, ok := changed[e.ID]; ok {
			by = v
		}
		e.StartUp = analyzetest.Scaled(e.StartUp, by*math.Pow(speed, power))
	}
	return s
}

// TestOthers: a machine that is slower as a whole is no change of any engine, nor where
// one follows it but half; what one engine changed by is found all the same, also in
// that engine alone, and nothing is found in the others.
func TestOthers(t *testing.T) {
	sleeps := map[string]float64{"docker-api": 0.6, "docker-cli": 0.6, "native": 2, "floor": 1.2, "runc": 1.2}
	base := crowded(t, 1, 1, nil, nil)
	for _, k := range []struct {
		name    string
		speed   float64
		changed map[string]float64
		want    map[string]compare.Direction
	}{
		{"nothing", 1, nil, nil},
		{"15 % slower", 1.15, nil, nil},
		{"15 % faster", 0.85, nil, nil},
		{"a slower engine", 1, map[string]float64{"podman": 1.1}, map[string]compare.Direction{"podman": compare.Worse}},
		{"a slower engine on a slower machine", 1.1, map[string]float64{"podman": 1.2}, map[string]compare.Direction{"podman": compare.Worse}},
		{"a faster engine on a slower machine", 1.1, map[string]float64{"docker-api": 0.7, "docker-cli": 0.7}, map[string]compare.Direction{"docker-api": compare.Better, "docker-cli": compare.Better}},
	} {
		c, err := compare.Between(base, crowded(t, 2, k.speed, sleeps, k.changed), compare.Options{Filter: startup})
		require.NoError(t, err)
		for i := range c.Cells {
			ch := &c.Cells[i]
			want := k.want[ch.Env]
			if (want != "") != (ch.Verdict == compare.Better || ch.Verdict == compare.Worse) || want != "" && ch.Verdict != want {
				t.Errorf("%s: %s is %s, %.3f [%.3f, %.3f], %+v", k.name, ch.Env, ch.Verdict, ch.Ratio.Value, *ch.Ratio.Lo, *ch.Ratio.Hi, ch.Control.Others)
			}
			if o := ch.Control.Others; o == nil || o.Engines < 3 || math.Abs(math.Log1p(o.Moved)-math.Log(k.speed)) > 0.05 {
				t.Errorf("%s: %s by %+v", k.name, ch.Env, o)
			}
		}
		moved := slices.ContainsFunc(c.Remarks, func(r record.Remark) bool { return r.Code == "machine-moved" })
		if moved != (k.speed != 1) && k.speed != 1 {
			t.Errorf("%s: that the machine moved is said: %v", k.name, moved)
		}
	}
}

// TestOthersThatAreTheSame: only what is the same in both runs by all that is known, on
// a machine that is, tells of the machine, and with too few engines the baselines do.
func TestOthersThatAreTheSame(t *testing.T) {
	of := func(a, b *analyze.Result) *compare.Control {
		c, err := compare.Between(a, b, compare.Options{Filter: startup})
		require.NoError(t, err)
		return analyzetest.Find(c, "startup", "crun").Control
	}
	base, next := crowded(t, 1, 1, nil, nil), crowded(t, 2, 1.1, nil, nil)
	if k := of(base, next); k.Others == nil || k.Others.Engines != 5 || k.Others.Environments != 6 {
		t.Errorf("with all, another bare runtime among them: %+v", k.Others)
	}
	fact := func(r *analyze.Result, env, value string) {
		r.Audit.Environment(env).Configuration = map[string]string{"version": value, "store": "/runs/" + r.Run.ID + "/root"}
	}
	fact(base, "docker-cli", "1")
	fact(next, "docker-cli", "1")
	if k := of(base, next); k.Others == nil || k.Others.Environments != 6 {
		t.Errorf("a path of the run's own is no difference: %+v", k.Others)
	}
	fact(next, "docker-cli", "2")
	if k := of(base, next); k.Others == nil || k.Others.Engines != 5 || k.Others.Environments != 5 {
		t.Errorf("with one that has another version: %+v", k.Others)
	}
	fact(base, "podman", "1")
	fact(next, "podman", "2")
	if k := of(base, next); k.Others == nil || k.Others.Engines != 4 {
		t.Errorf("with two engines that are the same, a bare runtime and floor: %+v", k)
	}
	fact(base, "runc", "1")
	fact(next, "runc", "2")
	if k := of(base, next); k.Others == nil || k.Others.Engines != 3 {
		t.Errorf("with two engines that are the same, and floor: %+v", k)
	}
	fact(base, "charliecloud-directory", "1")
	fact(next, "charliecloud-directory", "2")
	if k := of(base, next); k.Others != nil || len(k.Baselines) == 0 {
		t.Errorf("with one engine that is the same, and floor: %+v", k)
	}
	kernel := crowded(t, 3, 1.1, nil, nil)
	kernel.Run.Host.Kernel = "another"
	if k := of(crowded(t, 1, 1, nil, nil), kernel); k.Others != nil {
		t.Errorf("with another kernel: %+v", k.Others)
	}
}

// TestOthersAndHistory: earlier runs tell how much of what others did is to be taken
// out, and how much is left to scatter.
func TestOthersAndHistory(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var runs []*analyze.Result
	for i := range 10 {
		runs = append(runs, crowded(t, uint64(10+i), math.Exp(0.1*r.NormFloat64()), nil, nil))
	}
	c, err := compare.Between(runs[0], runs[1], compare.Options{Filter: startup, Earlier: runs[2:]})
	require.NoError(t, err)
	ch := analyzetest.Find(c, "startup", "podman")
	if ch.Control.Runs != 8 || ch.Control.Sum() < 0.75 || width(ch) > 1.15 || *ch.Ratio.Lo > 1 || *ch.Ratio.Hi < 1 {
		t.Errorf("%+v %+v %+v", ch.Ratio, ch.Control, ch.Control.Others)
	}
}

// TestOthersCover: on machines that move by 10 % from run to run, or by half as much
// again beside compilers, which each engine follows by a power of its own, spread as real
// engines' are, and with 1 % of scatter that is its own, the intervals hold the truth and
// no engine is said to have changed.
func TestOthersCover(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a hundred and sixty runs: left out with -short")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range []struct {
		machine     string
		speed       func() float64
		least, most float64
	}{
		{"moved by 10 %", func() float64 { return math.Exp(0.1 * r.NormFloat64()) }, 0.6, 1.3},
		{"beside compilers", func() float64 { return 1.5 }, 0.55, 1.6},
	} {
		holds, called, all, width := 0, 0, 0, 0.0
		for n := range 40 {
			speed := k.speed()
			c, err := compare.Between(crowded(t, uint64(2*n), 1, nil, ofItsOwn(r)), crowded(t, uint64(2*n+1), speed, unlike(r, k.least, k.most), ofItsOwn(r)), compare.Options{Filter: startup})
			require.NoError(t, err)
			for i := range c.Cells {
				ch := &c.Cells[i]
				all++
				width += math.Log(*ch.Ratio.Hi / *ch.Ratio.Lo)
				if *ch.Ratio.Lo <= 1 && *ch.Ratio.Hi >= 1 {
					holds++
				}
				if ch.Verdict == compare.Better || ch.Verdict == compare.Worse {
					called++
				}
			}
		}
		t.Logf("%s: of %d intervals %d hold 1, %d are called, mean width on the logarithm %.4f", k.machine, all, holds, called, width/float64(all))
		if share := float64(holds) / float64(all); share < 0.93 {
			t.Errorf("%s: %.3f of %d intervals hold the truth", k.machine, share, all)
		}
		if share := float64(called) / float64(all); share > 0.05 {
			t.Errorf("%s: %.3f of %d are called", k.machine, share, all)
		}
	}
}

// unlike is by what power each engine follows the machine.
func unlike(r *rand.Rand, least, most float64) map[string]float64 {
	out := map[string]float64{"native": 0.5 + 2*r.Float64(), "floor": 0.8 + r.Float64()}
	for _, engine := range [][]string{{"charliecloud-directory"}, {"crun"}, {"runc"}, {"docker-api", "docker-cli"}, {"podman"}} {
		power := least + (most-least)*r.Float64()
		for _, env := range engine {
			out[env] = power
		}
	}
	return out
}

// ofItsOwn is what each environment moved by itself, by 1 %.
func ofItsOwn(r *rand.Rand) map[string]float64 {
	out := map[string]float64{}
	for _, env := range []string{"charliecloud-directory", "crun", "runc", "docker-api", "docker-cli", "podman"} {
		out[env] = math.Exp(0.01 * r.NormFloat64())
	}
	return out
}

// TestOthersBusy: beside others' work the other engines tell what it cost, so that what
// one engine changed by is found in a run of busy blocks too, where the bound by the
// threads at work alone would leave it open.
func TestOthersBusy(t *testing.T) {
	busy := func(seed uint64, changed map[string]float64) *analyze.Result {
		s := crowdedSpec(seed, 1.4, map[string]float64{"docker-api": 1.3, "docker-cli": 1.3, "native": 0.5}, changed)
		return analyzetest.Run(t, recordtest.Edited{Spec: s, Each: func(x *record.Trial) {
			others := 4.0
			x.Running, x.Remarks = &others, append(x.Remarks, record.NotQuiet)
			x.Host = &record.Disturbance{CPUPressureNS: 1e12}
		}})
	}
	base := crowded(t, 1, 1, nil, nil)
	c, err := compare.Between(base, busy(2, map[string]float64{"podman": 1.4}), compare.Options{Filter: startup})
	require.NoError(t, err)
	for i := range c.Cells {
		ch := &c.Cells[i]
		if want := ch.Env == "podman"; want != (ch.Verdict == compare.Worse) || ch.Verdict == compare.Better || ch.State != nil {
			t.Errorf("%s is %s: %.3f [%.3f, %.3f] %+v", ch.Env, ch.Verdict, ch.Ratio.Value, *ch.Ratio.Lo, *ch.Ratio.Hi, ch.State)
		}
	}
}

// TestSlower: a machine that is slower has longer times and lower rates.
func TestSlower(t *testing.T) {
	base := crowded(t, 1, 1, nil, nil)
	for _, rate := range []bool{false, true} {
		next := crowded(t, 2, 1.2, nil, nil)
		if rate { // the same numbers, read the other way round
			for _, r := range []*analyze.Result{base, next} {
				r.Workloads[0].Table("startup").Metric.Better = record.HigherIsBetter
			}
		}
		c, err := compare.Between(base, next, compare.Options{Filter: startup})
		require.NoError(t, err)
		want := "slower in NEW"
		if rate {
			want = "faster in NEW"
		}
		if !slices.ContainsFunc(c.Remarks, func(r record.Remark) bool {
			return r.Code == "machine-moved" && strings.Contains(r.Text, want)
		}) {
			t.Errorf("rate %v: it is not said that the machine was %s: %+v", rate, want, c.Remarks)
		}
	}
}
