package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// Verdict is what came out of a check. A machine can be too noisy to tell.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Open Verdict = "open" // cannot tell: the noise is larger than what is looked for
)

// Check is one thing that was proved, or not.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Text    string  `json:"text"`
	Value   float64 `json:"value"`
	Wanted  string  `json:"wanted"`
}

// NoiseFloor says how far apart two entries of the same environment came out.
type NoiseFloor struct {
	Env string `json:"env"`
	// Relative is the 95th percentile of |ratio − 1| over the A/A comparisons
	// of Blocks blocks each.
	Relative float64 `json:"relative"`
	Blocks   int     `json:"blocks"`
	// MedianNS is the environment's start-up time.
	MedianNS float64 `json:"median_ns"`
}

// Result is what a self-test found.
type Result struct {
	Checks  []Check      `json:"checks"`
	Noise   []NoiseFloor `json:"noise"`
	Remarks []string     `json:"remarks,omitempty"`
	Took    float64      `json:"took_s"`
}

// Verdict is the worst of the checks'.
func (r *Result) Verdict() Verdict {
	worst := Open
	for i, c := range r.Checks {
		if i == 0 || c.Verdict == Fail || worst == Pass {
			worst = c.Verdict
		}
		if worst == Fail {
			return Fail
		}
	}
	return worst
}

// Options are what a self-test needs.
type Options struct {
	Run run.Options // engines are replaced, the rest is used
	// OCI, where a runtime is here, is the bare-runtime engine; OCIDelayed the
	// same with a runtime that sleeps before it creates.
	OCI        engine.Engine
	OCIDelayed func(dir string) (engine.Engine, error)
	Runtime    string // the runtime that OCIDelayed wraps: "runc"
	// Blocks is the number of blocks with the runtime; 0 means 200. The
	// stopwatch alone, whose trials are short, gets five times as many.
	// Comparisons take 10 each.
	Blocks int
}

// group is the number of blocks of one A/A comparison.
const group = 10

// simulated is the number of comparisons on simulated data.
const simulated = 200

// Run tests the stopwatch. A result beside an error is whole: something that the test has
// made could not be removed.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	begin := time.Now()
	o.Blocks = cmp.Or(o.Blocks, 200)
	dir, err := os.MkdirTemp("", "plimsoll-selftest-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the self-test: %w", err)
	}
	defer func() { err = errors.Join(err, safepath.RemoveAll(dir)) }()
	res := &Result{}
	if err := simulate(ctx, o, filepath.Join(dir, "simulated"), res); err != nil {
		return nil, err
	}
	if err := measure(ctx, o, dir, res); err != nil {
		return nil, err
	}
	res.Took = time.Since(begin).Seconds()
	return res, nil
}

// simulate tests records and estimators on the fake engine, whose truth is known.
func simulate(ctx context.Context, o Options, dir string, res *Result) error {
	text := `
plimsoll: 1
name: selftest-simulated
protocol: {blocks: ` + fmt.Sprint(simulated*group) + `, warmup: 1, pause: 0s}
workloads: [hello]
baselines: []
environments:
  - {engine: fake, runtime: medium, as: [a, b]}
  - {engine: fake, runtime: delayed}
`
	s, ids, err := execute(ctx, o, dir, text, []engine.Engine{fake.New()})
	if err != nil {
		return err
	}
	a, b, d := ids[0], ids[1], ids[2]
	apart, n, _ := againstItself(s, a, b, "startup", simulated*group)
	res.Checks = append(res.Checks, Check{
		Name: "A/A, simulated", Value: float64(apart), Wanted: "at most 5 %", Verdict: passIf(n == simulated && apart*20 <= n),
		Text: fmt.Sprintf("one simulated environment under two names is told apart in %d of %d comparisons", apart, n),
	})
	delayCheck(s, res, "injected delay, simulated", a, d, "create", simulated*group)
	return nil
}

// measure tests the stopwatch itself, and a real runtime where there is one.
func measure(ctx context.Context, o Options, dir string, res *Result) error {
	blocks := 5 * o.Blocks
	s, ids, err := execute(ctx, o, filepath.Join(dir, "stopwatch"),
		measured(blocks, twice("stopwatch", plain), once("stopwatch", delayed)), []engine.Engine{stopwatch{}})
	if err != nil {
		return err
	}
	aa(s, res, "stopwatch", ids[0], ids[1], blocks)
	delayCheck(s, res, "injected delay, stopwatch", ids[0], ids[2], "bootstrap", blocks)
	if o.OCI == nil || o.OCIDelayed == nil {
		res.Remarks = append(res.Remarks, "no bare runtime can be used here: the injected delay was tried with the stopwatch alone")
		return nil
	}
	// The noise is that of every study.
	s, ids, err = execute(ctx, o, filepath.Join(dir, "runtime"), measured(o.Blocks, twice("oci", o.Runtime)), []engine.Engine{o.OCI})
	if err != nil {
		return err
	}
	aa(s, res, o.Runtime, ids[0], ids[1], o.Blocks)
	return delayRuntime(ctx, o, dir, res)
}

// delayRuntime looks for a delay before the runtime's create.
func delayRuntime(ctx context.Context, o Options, dir string, res *Result) error {
	slow, err := o.OCIDelayed(dir)
	if err != nil {
		return err
	}
	undo, err := o.Run.State.SetKernel(expedited, "1")
	if err != nil {
		res.Remarks = append(res.Remarks, "RCU grace periods could not be expedited, so the kernel's may blur what the runtime shows: "+err.Error())
		undo = func() error { return nil }
	}
	held := err == nil
	o.Run.Held = held
	s, ids, err := execute(ctx, o, filepath.Join(dir, "delayed"),
		measured(o.Blocks, once("oci", o.Runtime), once("oci-delayed", o.Runtime)), []engine.Engine{o.OCI, engine.Named(slow, "oci-delayed")})
	if held && err == nil {
		err = isSet(expedited, "1")
	}
	if err = errors.Join(err, undo()); err != nil {
		return err
	}
	delayCheck(s, res, "injected delay, "+o.Runtime+" create", ids[0], ids[1], "create", o.Blocks)
	return nil
}

// isSet fails where a kernel setting has not the value that was measured with.
func isSet(path, want string) error {
	now, err := os.ReadFile(path)
	if got := strings.TrimSpace(string(now)); err == nil && got != want {
		err = fmt.Errorf("%s was set to %s for the test, and is %s at its end: what was measured says nothing; test again", path, want, got)
	}
	return err
}

// expedited makes the kernel's RCU grace periods short while it is 1, see
// Documentation/admin-guide/kernel-parameters.txt, rcupdate.rcu_expedited.
// Whoever moves a process into a cgroup waits for one, some milliseconds or
// none, by what happened in the milliseconds before: so a delay before a
// runtime changes what the runtime itself takes, and a crun that slept for
// 5 ms came out 8 ms slower. The stopwatch is to be tested here, not that.
const expedited = "/sys/kernel/rcu_expedited"

// measured is a study of some environments.
func measured(blocks int, environments ...string) string {
	return fmt.Sprintf(`
plimsoll: 1
name: selftest
protocol: {blocks: %d, warmup: 2, pause: 0s}
workloads: [hello]
baselines: []
environments:
%s`, blocks, strings.Join(environments, ""))
}

// once is one environment in a study, twice the same under two names.
func once(engine, runtime string) string {
	return fmt.Sprintf("  - {engine: %s, runtime: %s}\n", engine, runtime)
}

func twice(engine, runtime string) string {
	return fmt.Sprintf("  - {engine: %s, runtime: %s, as: [a, b]}\n", engine, runtime)
}

// execute runs a study given as text and reads the result. The ids are those
// of the environments, in the study's order.
func execute(ctx context.Context, o Options, dir, text string, engines []engine.Engine) (*series, []string, error) {
	cat := &study.Catalogue{Factors: engine.Factors}
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Levels: i.Levels, Detached: i.Detached})
	}
	for _, w := range workload.Catalogue() {
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Title: w.Title, Parameters: w.Parameters, NeedsDetached: w.Detached})
	}
	st, err := study.Read(study.Source{Path: "selftest", Data: []byte(strings.TrimSpace(text) + "\n")}, cat)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the self-test's own study: %w", err)
	}
	plan, err := study.Expand(st, cat, study.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("planning the self-test: %w", err)
	}
	ro := o.Run
	ro.Run, ro.Plan, ro.Dir, ro.Resume, ro.Engines = &record.Run{}, plan, dir, false, engines
	want := len(plan.Environments)
	sum, err := run.Execute(ctx, ro)
	switch {
	case err != nil:
		return nil, nil, err
	case sum.Unclean != nil:
		return nil, nil, fmt.Errorf("cleaning up after the self-test: %w", sum.Unclean)
	case sum.Interrupted:
		return nil, nil, context.Canceled
	case len(plan.Environments) < want:
		return nil, nil, fmt.Errorf("an environment of the self-test could not be opened: %s", sum.Excluded[0].Reason)
	case len(sum.Residue) > 0:
		return nil, nil, fmt.Errorf("the self-test left something behind: %s", strings.Join(sum.Residue, ", "))
	}
	s, err := readSeries(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(s.failed) > 0 {
		return nil, nil, errors.New("a trial of the self-test failed: " + s.failed[0])
	}
	ids := make([]string, len(plan.Environments))
	for i, e := range plan.Environments {
		ids[i] = e.ID
	}
	return s, ids, nil
}

// againstItself compares two entries of the same environment, ten blocks at a
// time, and gives how often they were told apart and the ratios.
func againstItself(s *series, a, b, metric string, blocks int) (apart, n int, off []float64) {
	for from := 0; from+group <= blocks; from += group {
		r, i, ok := s.logRatio(a, b, metric, from, from+group)
		if !ok {
			continue
		}
		n++
		if toldApart(i) {
			apart++
		}
		off = append(off, math.Abs(math.Expm1(r)))
	}
	return apart, n, off
}

// aa checks a real environment against itself and takes the noise floor.
func aa(s *series, res *Result, name, a, b string, blocks int) {
	apart, n, off := againstItself(s, a, b, "startup", blocks)
	res.Checks = append(res.Checks, Check{
		Name: "A/A, " + name, Value: float64(apart), Wanted: "5 % or fewer, as far as chance allows", Verdict: alarms(apart, n),
		Text: fmt.Sprintf("%s under two names is told apart in %d of %d comparisons of %d blocks", name, apart, n, group),
	})
	res.Noise = append(res.Noise, NoiseFloor{
		Env: name, Blocks: group,
		Relative: stats.Quantile(stats.Sorted(off), 0.95),
		MedianNS: stats.Median(stats.Sorted(s.all(a, "startup"))),
	})
}

func passIf(ok bool) Verdict {
	if ok {
		return Pass
	}
	return Fail
}

// alarms judges k false alarms in n comparisons by how often so many, or more,
// come by chance where the true rate is 5 %: at least once in 20 times passes,
// less than once in 100 times fails, and between the two it cannot be told.
func alarms(k, n int) Verdict {
	if n == 0 {
		return Open
	}
	chance := 1 - distuv.Binomial{N: float64(n), P: 0.05}.CDF(float64(k-1))
	switch {
	case chance >= 0.05:
		return Pass
	case chance < 0.01:
		return Fail
	}
	return Open
}

// tolerance is how exactly the delay must be found, and how little anything
// else may move.
const tolerance = 500 * time.Microsecond

// delayCheck looks for the injected delay in its phase and for nothing in the
// others.
func delayCheck(s *series, res *Result, name, a, b, phase string, blocks int) {
	got, i, ok := s.shift(a, b, phase, blocks)
	lo, hi := float64(Delay-tolerance), float64(Delay+tolerance)
	verdict := passIf(ok && got >= lo && got <= hi)
	if verdict == Fail && ok && i.Lo <= hi && i.Hi >= lo {
		verdict = Open // what was measured agrees with 5 ms, and with more than may be
	}
	res.Checks = append(res.Checks, Check{
		Name: name, Value: got / 1e6, Wanted: "5 ± 0.5 ms", Verdict: verdict,
		Text: fmt.Sprintf("a delay of 5 ms is measured as %.3f ms [%.3f, %.3f] in %s", got/1e6, i.Lo/1e6, i.Hi/1e6, phase),
	})
	worst, where := 0.0, "nothing"
	for _, m := range record.LifeCycle {
		if spans(m, phase) || !s.has(a, m.ID) {
			continue
		}
		d, i, ok := s.shift(a, b, m.ID, blocks)
		if ok && i.Lo <= 0 && i.Hi >= 0 {
			continue // no shift that can be told from none
		}
		if math.Abs(d) > worst {
			worst, where = math.Abs(d), m.ID
		}
	}
	res.Checks = append(res.Checks, Check{
		Name: name + ": the rest", Value: worst / 1e6, Wanted: "less than 0.5 ms", Verdict: passIf(worst < float64(tolerance)),
		Text: fmt.Sprintf("nothing else moves by more than %.3f ms (%s)", worst/1e6, where),
	})
}

// spans says whether a metric contains the phase in which the delay was put.
func spans(m record.Metric, phase string) bool {
	if m.ID == phase {
		return true
	}
	// Both begin at the request, so whatever ends later contains it.
	return m.From == record.Request
}
