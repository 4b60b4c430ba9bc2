package export

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/derive"
)

// row is one value of one trial, or one failed trial, which has none.
type row struct {
	run      *record.Run
	trial    *record.Trial
	env      *record.Environment
	workload *record.Workload
	metric   *record.Metric // nil where the trial failed
	value    float64
}

// censored says that the trial's time is not missing but longer than its limit.
func (r *row) censored() bool {
	return r.trial.Failure != nil && r.trial.Failure.Class == record.TimeOut
}

// param is the trial's own parameter where it has one, else the workload's.
func (r *row) param(name string) (string, bool) {
	if v, ok := r.trial.Params[name]; ok {
		return v, true
	}
	v, ok := r.workload.Params[name]
	return v, ok
}

// index finds environments, workloads and their metrics by the ids in trials.
type index struct {
	run     *record.Run
	envs    map[string]int
	works   map[string]int
	metrics [][]record.Metric // by workload
}

func newIndex(run *record.Run) *index {
	x := &index{run: run, envs: map[string]int{}, works: map[string]int{}}
	for i := range run.Environments {
		x.envs[run.Environments[i].ID] = i
	}
	for i := range run.Workloads {
		x.works[run.Workloads[i].ID] = i
		x.metrics = append(x.metrics, run.Workloads[i].AllMetrics())
	}
	return x
}

func (x *index) find(t *record.Trial) (env, work int, err error) {
	env, ok := x.envs[t.Env]
	if !ok {
		return 0, 0, fmt.Errorf("trial %d is of environment %q, which %s does not name: the two files are not of one run", t.Seq, t.Env, record.RunFile)
	}
	work, ok = x.works[t.Workload]
	if !ok {
		return 0, 0, fmt.Errorf("trial %d is of workload %q, which %s does not name: the two files are not of one run", t.Seq, t.Workload, record.RunFile)
	}
	return env, work, nil
}

// rows yields every value of every trial, warm-up too, in the order in which
// they were run. A row is valid until the next. After an error nothing follows.
func rows(r *record.Reader, metric string) iter.Seq2[*row, error] {
	return func(yield func(*row, error) bool) {
		x := newIndex(r.Run())
		for t, err := range derive.Trials(r) {
			if err != nil {
				yield(nil, err)
				return
			}
			e, w, err := x.find(t)
			if err != nil {
				yield(nil, err)
				return
			}
			out := row{run: x.run, trial: t, env: &x.run.Environments[e], workload: &x.run.Workloads[w]}
			if !t.OK() {
				if !yield(&out, nil) {
					return
				}
				continue
			}
			for i := range x.metrics[w] {
				m := &x.metrics[w][i]
				if metric != "" && m.ID != metric {
					continue
				}
				v, ok := m.Value(t)
				if !ok {
					continue
				}
				out.metric, out.value = m, v
				if !yield(&out, nil) {
					return
				}
			}
		}
	}
}

// factors are the names of all factors of a run's environments, sorted.
func factors(run *record.Run) []string {
	names := map[string]bool{}
	for i := range run.Environments {
		for k := range run.Environments[i].Levels {
			names[k] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// params are the names of all parameters of a run's workloads, sorted.
func params(run *record.Run) []string {
	names := map[string]bool{}
	for i := range run.Workloads {
		for k := range run.Workloads[i].Params {
			names[k] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// tuned marks what is of a tuned machine, where a format has no column that every run has.
func tuned(p *record.Protocol) string {
	if p.Tuned {
		return "yes"
	}
	return ""
}
