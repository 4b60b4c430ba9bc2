// Package verdict says in a few sentences which environment of a run is best, by how
// much, how the engines follow each other, and how sure that is.
//
// It is opinionated: what cannot be told apart is not ranked, and a doubt stands in
// the same breath as the answer.
//
// Why it is so: docs/decisions/reports.md.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// question is what a verdict answers: which environment is best by one metric
// of one workload. Baselines are what the others are held against; they are
// asked about only where nothing else ran.
type question struct {
	res   *analyze.Result
	envs  map[string]*record.Environment
	names map[string]string
	work  *analyze.Workload
	table *analyze.Table
	first []string // in the order of the ranking: those that cannot be told from the best
	next  string   // the best that can, "" none
	all   []string // that have a value, in the order of the ranking
}

// Of says in a few sentences which environment is best, by how much, how the engines
// follow each other, how sure that is, and what the slowest one's time goes into; or what an engine's times
// are made of, where the run took it apart. It is about the first metric shown that has a value, or about the one that is named.
func Of(res *analyze.Result, metric string) []string {
	q := newQuestion(res, metric)
	switch {
	case q == nil:
		return []string{"The plan was empty: nothing to measure."}
	case len(q.first) == 0:
		return []string{fmt.Sprintf("No environment has a value of %s: %s.", q.about(), strings.TrimSuffix(q.why(), ".")), q.state()}
	}
	if made := q.made(); made != nil { // none of the others is anybody's choice as it stands
		return append(made, q.state())
	}
	return slices.DeleteFunc([]string{q.best(), q.engines(), q.against(), q.sure(), q.because()}, func(s string) bool { return s == "" })
}

// made says what an engine's times are made of, and what can be saved at which
// price, where something was taken away from it.
func (q *question) made() []string {
	for _, x := range q.res.Ablations {
		if x.Workload != q.work.ID || x.Metric.ID != q.table.Metric.ID {
			continue
		}
		var of []string
		for _, s := range x.Largest() {
			name := strings.Replace(words.Clean(x.Name(s)), ", above ", " above ", 1) // in a list
			of = append(of, fmt.Sprintf("%s %s", words.Amount(s.Chain.Value, x.Metric.Unit), name))
		}
		if len(of) > 0 {
			how, less := "The %s of %s are made of %s, among others.", "less"
			if x.Rate() {
				how, less = "The %s of %s lack %s, among others.", "more"
			}
			said := []string{fmt.Sprintf(how, words.Amount(x.Base.Median.Value, x.Metric.Unit), words.Clean(x.Base.Env), words.List(of))}
			if most := x.Savings(); len(most) > 0 {
				s := most[0]
				said = append(said, fmt.Sprintf("Without %s it is %s %s; %s.", words.Clean(s.Title), words.Amount(s.Alone.Value, x.Metric.Unit), less, words.Clean(s.Price)))
			}
			return said
		}
	}
	return nil
}

// newQuestion takes the metric that stands for the first workload that has a
// value of it, else for the first one, or the one that is named; nil where there
// is none.
func newQuestion(res *analyze.Result, metric string) *question {
	var none *question
	for w := range res.Workloads {
		q := ask(res, &res.Workloads[w], metric)
		switch {
		case q == nil:
		case len(q.first) > 0:
			return q
		case none == nil:
			none = q
		}
	}
	return none
}

// ask is the question of one workload, nil where it has no such metric.
func ask(res *analyze.Result, work *analyze.Workload, metric string) *question {
	t := work.TableOf(metric, "")
	if t == nil {
		return nil
	}
	envs := map[string]*record.Environment{}
	for i := range res.Environments {
		envs[res.Environments[i].ID] = &res.Environments[i]
	}
	q := &question{res: res, envs: envs, names: words.Names(res.Environments), work: work, table: t}
	q.rank()
	return q
}

// rank parts those that cannot be told from the best from the others: two that
// share a letter cannot be told apart.
func (q *question) rank() {
	only := !slices.ContainsFunc(q.res.Environments, func(e record.Environment) bool { return e.Baseline == "" })
	for _, id := range q.table.Ranking {
		if !only && q.env(id).Baseline != "" {
			continue
		}
		q.all = append(q.all, id)
		switch {
		case len(q.first) == 0, strings.ContainsAny(q.table.Cell(id).Group, q.cell().Group):
			q.first = append(q.first, id)
		case q.next == "":
			q.next = id
		}
	}
}

// cell is that of the best.
func (q *question) cell() *analyze.Cell { return q.table.Cell(q.first[0]) }

func (q *question) name(env string) string { return cmp.Or(q.names[env], env) }

func (q *question) about() string {
	s := cmp.Or(q.table.Metric.Title, q.table.Metric.ID) + " with " + cmp.Or(q.work.Title, q.work.ID)
	if n := len(q.res.Workloads); n > 1 {
		s += fmt.Sprintf(" (one of %d workloads)", n)
	}
	return s
}

// median is an environment's, in words.
func (q *question) median(env string) string {
	unit := q.table.Metric.Unit
	if unit == q.table.Metric.Title || unit == "count" {
		unit = "" // it is said already
	}
	return words.Estimate(*q.table.Cell(env).Median, unit)
}

// worse compares one with another that it is so many times worse than; e is the ratio of
// their values.
func (q *question) worse(e sample.Estimate, than string) string {
	m := q.table.Metric
	if m.Better == record.HigherIsBetter {
		e = inverse(e)
	}
	s := words.IsWorse(m, e, than)
	if e.Lo == nil {
		s += " (too few blocks for an interval)"
	}
	return s
}

// superlative is the word for the best.
func (q *question) superlative() string {
	if q.table.Metric.Unit == "ns" && q.table.Metric.Better != record.HigherIsBetter {
		return "fastest"
	}
	return "best"
}

// best is the first sentence.
func (q *question) best() string {
	best := q.first[0]
	if len(q.all) == 1 {
		return fmt.Sprintf("Only %s has a value of %s: %s.", q.name(best), q.about(), q.median(best))
	}
	about, s := words.Upper(q.about()), ""
	switch n := len(q.first); {
	case n == 1:
		s = fmt.Sprintf("%s: %s is %s at %s", about, q.name(best), q.superlative(), q.median(best))
	case q.next == "" && q.same():
		return fmt.Sprintf("%s: all %d environments are equal within %.3g %% (%s: %s).", about, n, 100*q.res.Run.Delta, q.name(best), q.median(best))
	case q.next == "":
		return fmt.Sprintf("%s: none of the %d environments differs measurably from the one with the best median, %s at %s.", about, n, q.name(best), q.median(best))
	case q.same():
		s = fmt.Sprintf("%s: %s are %s and equal within %.3g %%; %s has %s", about, q.leaders(), q.superlative(), 100*q.res.Run.Delta, q.name(best), q.median(best))
	default:
		s = fmt.Sprintf("%s: %s share the first place, no difference was found between them; %s has %s", about, q.leaders(), q.name(best), q.median(best))
	}
	p := q.pair(best, q.next)
	if p == nil || p.Missing != "" {
		return s + "."
	}
	s += fmt.Sprintf("; next is %s, which %s", q.name(q.next), q.worse(inverse(p.Estimate), ""))
	if p.Verdict == analyze.Equal {
		s += fmt.Sprintf(", below the %.3g %% that matter here", 100*q.res.Run.Delta)
	}
	return s + "."
}

// same says whether the best and all that cannot be told from it are equal for
// practical purposes, which is more than that no difference was found.
func (q *question) same() bool {
	return !slices.ContainsFunc(q.first[1:], func(e string) bool {
		p := q.pair(q.first[0], e)
		return p == nil || p.Verdict != analyze.Equal
	})
}

// leaders lists the first ones, the last of many as a number.
func (q *question) leaders() string {
	const most = 4
	var out []string
	for i, e := range q.first {
		if i == most-1 && len(q.first) > most {
			out = append(out, fmt.Sprintf("%d others", len(q.first)-i))
			break
		}
		out = append(out, q.name(e))
	}
	return words.List(out)
}

func (q *question) pair(a, b string) *analyze.Pair {
	return analyze.Find(q.table.Pairs, func(p *analyze.Pair) bool { return p.A == a && p.B == b })
}

// inverse is b over a where e is a over b.
func inverse(e sample.Estimate) sample.Estimate {
	out := sample.Estimate{Value: 1 / e.Value}
	if e.Lo != nil && e.Hi != nil && *e.Lo > 0 {
		out.Lo, out.Hi = new(1 / *e.Hi), new(1 / *e.Lo)
	}
	return out
}

// against says what the best one takes beside what no engine takes: the best one's ratio to native, or to the
// host where that did not run, and the floor's share of it.
func (q *question) against() string {
	c, best := q.cell(), q.name(q.first[0])
	var s string
	for _, name := range []string{"native", "host"} {
		r := c.Ratio(name)
		if r == nil || r.Missing != "" || r.Method == "itself" {
			continue
		}
		switch other := q.name(r.Env) + " at " + q.value(r.Env); {
		case r.Verdict == analyze.Equal:
			s = fmt.Sprintf("%s equals %s, within %.3g %%", best, other, 100*q.res.Run.Delta)
		case r.Verdict == analyze.CannotTell && r.Lo != nil:
			s = fmt.Sprintf("No difference was found between %s and %s: the ratio is %s", best, other, words.Estimate(r.Estimate, ""))
		default:
			s = best + " " + q.worse(r.Estimate, other)
		}
		break
	}
	if r := c.Ratio("floor"); r != nil && r.Missing == "" && r.Method != "itself" && q.table.Metric.Unit == "ns" {
		share := inPercent(inverse(r.Estimate))
		if s == "" {
			s = fmt.Sprintf("The floor, the bare system calls of a container, accounts for %s of %s's time", words.Estimate(share, "%"), best)
		} else {
			s += fmt.Sprintf("; the floor, the bare system calls of a container, accounts for %s of its time", words.Estimate(share, "%"))
		}
	}
	if s == "" {
		return ""
	}
	return s + "."
}

func inPercent(e sample.Estimate) sample.Estimate {
	out := sample.Estimate{Value: 100 * e.Value}
	if e.Lo != nil {
		out.Lo, out.Hi = new(100**e.Lo), new(100**e.Hi)
	}
	return out
}

// why says for which reasons nobody has a value.
func (q *question) why() string {
	var reasons []string
	for i := range q.table.Cells {
		m := q.table.Cells[i].Missing
		if m != "" && m != analyze.NotAsked && !slices.Contains(reasons, m) {
			reasons = append(reasons, m)
		}
	}
	switch {
	case len(reasons) == 0:
		return "no environment took part"
	case len(reasons) > 2:
		return reasons[0] + ", and other reasons"
	}
	return strings.Join(reasons, "; ")
}
