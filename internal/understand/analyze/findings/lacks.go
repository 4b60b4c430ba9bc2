package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// lacksOf says what a test names and what there is no number of: environments
// that could not run, or were never asked for, workloads, baselines.
func lacksOf(runs []*analyze.Result, t *record.ClaimTest, pairs []pair) []analyze.ClaimLack {
	var out []analyze.ClaimLack
	if len(pairs) == 0 {
		out = analyze.Also(out, unmeasured(runs, t)...)
	}
	said := len(out) > 0 // of all engines, so that each need not say it again
	for _, sel := range []map[string][]string{t.Of, t.To} {
		out = analyze.Also(out, excluded(runs, t, sel)...)
		for _, e := range sel[analyze.ClaimEngine] {
			if !took(pairs, e) && !slices.ContainsFunc(out, func(l analyze.ClaimLack) bool { return isOf(l.What, e) }) {
				if why, here := whyNotHere(runs, t, e); !here || !said {
					out = analyze.Also(out, analyze.ClaimLack{What: e, Reason: why})
				}
			}
		}
	}
	return out
}

// isOf says whether an environment's id is of an engine.
func isOf(id, engine string) bool {
	rest, ok := strings.CutPrefix(id, engine)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "/@,-"))
}

// took says whether an engine is in any pair.
func took(pairs []pair, engine string) bool {
	return slices.ContainsFunc(pairs, func(p pair) bool {
		return p.A.Engine == engine || p.B != nil && p.B.Engine == engine
	})
}

// whyNotHere says why an engine that a claim names is in no pair, and whether
// it is here at all.
func whyNotHere(runs []*analyze.Result, t *record.ClaimTest, engine string) (reason string, here bool) {
	reason = notRun(runs)
	other := unlike(runs, t, engine)
	for _, r := range runs {
		for i := range r.Environments {
			e := &r.Environments[i]
			if e.Engine != engine {
				continue
			}
			reason, here = other, true
			if !matchesEnv(t.Of, e) && (t.To == nil || !matchesEnv(t.To, e)) {
				continue
			}
			if why := noValue(r, t, e.ID); why != "" {
				return why, true
			}
			reason = "it has nothing to be compared with"
		}
	}
	return reason, here
}

// unlike says how the environments of an engine differ from those that a test means: by
// the first factor of which none has a level that is meant.
func unlike(runs []*analyze.Result, t *record.ClaimTest, engine string) string {
	sel := t.Of
	if !slices.Contains(sel[analyze.ClaimEngine], engine) && t.To != nil {
		sel = t.To
	}
	for _, factor := range slices.Sorted(maps.Keys(sel)) {
		one := map[string][]string{analyze.ClaimEngine: {engine}, factor: sel[factor]}
		there := slices.ContainsFunc(runs, func(r *analyze.Result) bool {
			return slices.ContainsFunc(r.Environments, func(e record.Environment) bool { return matchesEnv(one, &e) })
		})
		if factor != analyze.ClaimEngine && !there {
			return fmt.Sprintf("none of its environments has the %s %s", factor, strings.Join(sel[factor], " or "))
		}
	}
	return "none of its environments is one that the claim means"
}

func notRun(runs []*analyze.Result) string {
	if len(runs) > 1 {
		return "in none of these runs"
	}
	return "not in this run"
}

// noValue says why an environment has no value of what a test looks at.
func noValue(r *analyze.Result, t *record.ClaimTest, env string) string {
	works := worksOf(r, &t.Workload)
	if len(works) == 0 {
		return "the workload " + strings.Join(t.Workload.Names, " or ") + " was not run"
	}
	for _, w := range works {
		if tab := w.Table(t.Metric); tab != nil {
			if c := tab.Cell(env); c != nil && c.Median == nil {
				return w.ID + ": " + c.Missing
			}
		}
	}
	return ""
}

// excluded lists what a side matches and what the plans had to leave out, one
// for each reason.
func excluded(runs []*analyze.Result, t *record.ClaimTest, sel map[string][]string) []analyze.ClaimLack {
	if sel == nil {
		return nil
	}
	var out []analyze.ClaimLack
	var ids [][]string
	for _, r := range runs {
		for _, x := range r.Excluded {
			if !matchesLevels(sel, x.Engine, "", x.Levels, nil) || x.Workload != "" && !hasWork(r, &t.Workload, x.Workload) || x.Workload == "" && ran(runs, x.ID) {
				continue
			}
			l := analyze.ClaimLack{What: x.ID, Reason: strings.TrimSuffix(x.Reason, "."), Fix: x.Fix}
			i := slices.IndexFunc(out, func(o analyze.ClaimLack) bool { return o.Reason == l.Reason && o.Fix == l.Fix })
			if i < 0 {
				out, ids = append(out, l), append(ids, nil)
				i = len(out) - 1
			}
			ids[i] = analyze.Also(ids[i], x.ID)
		}
	}
	for i := range out {
		const shown = 3
		if e := onlyEngine(ids[i]); e != "" && !slices.ContainsFunc(runs, func(r *analyze.Result) bool { return hasEngine(r, e) }) {
			out[i].What = e
		} else if n := len(ids[i]); n > shown {
			out[i].What = fmt.Sprintf("%s and %d more", strings.Join(ids[i][:shown], ", "), n-shown)
		} else {
			out[i].What = strings.Join(ids[i], ", ")
		}
	}
	return out
}

// onlyEngine is the engine of which all of these ids are, or "".
func onlyEngine(ids []string) string {
	engine, _, _ := strings.Cut(ids[0], "/")
	for _, id := range ids {
		if !isOf(id, engine) {
			return ""
		}
	}
	return engine
}

// hasEngine says whether any environment is of an engine.
func hasEngine(r *analyze.Result, engine string) bool {
	return slices.ContainsFunc(r.Environments, func(e record.Environment) bool { return e.Engine == engine })
}

// ran says whether an environment is in any run.
func ran(runs []*analyze.Result, id string) bool {
	return slices.ContainsFunc(runs, func(r *analyze.Result) bool { return r.Environment(id) != nil })
}

func hasWork(r *analyze.Result, c *record.WorkloadChoice, id string) bool {
	return slices.ContainsFunc(worksOf(r, c), func(w *analyze.Workload) bool { return w.ID == id })
}

// unmeasured says which workload, metric or baseline no run has.
func unmeasured(runs []*analyze.Result, t *record.ClaimTest) []analyze.ClaimLack {
	var out []analyze.ClaimLack
	work := func(c *record.WorkloadChoice, metric string, sel map[string][]string) {
		have, value, why := false, false, "no environment here has it"
		for _, r := range runs {
			for _, w := range worksOf(r, c) {
				have = true
				value = value || w.Table(metric).Measured()
				for i := range r.Environments {
					if t := w.Table(metric); t != nil && matchesEnv(sel, &r.Environments[i]) && t.Cells[i].Missing != "" {
						why = t.Cells[i].Missing
					}
				}
			}
		}
		name := strings.Join(c.Names, " or ")
		for _, p := range paramNames(c.Params) {
			name += fmt.Sprintf(", %s %s", p, strings.Join(c.Params[p], " or "))
		}
		switch {
		case !have:
			out = append(out, analyze.ClaimLack{What: "workload " + name, Reason: notRun(runs)})
		case !value:
			out = append(out, analyze.ClaimLack{What: "metric " + metric + " of " + name, Reason: why})
		}
	}
	work(&t.Workload, t.Metric, t.Of)
	to, metric := &t.Workload, t.Metric
	if t.ToWorkload != nil {
		to = t.ToWorkload
	}
	if t.ToMetric != "" {
		metric = t.ToMetric
	}
	if t.ToWorkload != nil || t.ToMetric != "" {
		sel := t.To
		if sel == nil {
			sel = t.Of
		}
		work(to, metric, sel)
	}
	if t.Baseline != "" && !slices.ContainsFunc(runs, func(r *analyze.Result) bool {
		return slices.ContainsFunc(r.Environments, func(e record.Environment) bool { return e.Baseline == t.Baseline })
	}) {
		out = append(out, analyze.ClaimLack{What: t.Baseline, Reason: "the baseline did not run"})
	}
	if len(out) == 0 && t.Vary != "" {
		out = append(out, analyze.ClaimLack{What: t.Vary, Reason: "no two environments here differ in it alone"})
	}
	return out
}

func paramNames(m map[string][]string) []string {
	flat := map[string]string{}
	for k := range m {
		flat[k] = ""
	}
	return analyze.SortedKeys(flat)
}

// failedOf says of what every trial failed that one side of a test asks for, "" where none
// was asked for, or some went well.
func failedOf(runs []*analyze.Result, t *record.ClaimTest) string {
	of := func(c *record.WorkloadChoice, sel map[string][]string) string {
		text := ""
		for _, r := range runs {
			for _, w := range worksOf(r, c) {
				for i := range w.Counts {
					n, e := &w.Counts[i], r.Environment(w.Counts[i].Env)
					switch {
					case n.Trials == 0 || e == nil || !matchesEnv(sel, e):
					case n.Failed < n.Trials:
						return ""
					case text == "" && len(n.Classes) > 0:
						text = n.Classes[0].Text
					}
				}
			}
		}
		return text
	}
	if s := of(&t.Workload, t.Of); s != "" {
		return s
	}
	if t.Baseline != "" {
		return ""
	}
	work, sel := t.ToWorkload, t.To
	if work == nil {
		work = &t.Workload
	}
	if sel == nil {
		sel = t.Of
	}
	return of(work, sel)
}
