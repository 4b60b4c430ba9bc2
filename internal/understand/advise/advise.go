package advise

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// alpha is the chance of any false difference in the ranking's groups.
const alpha = 1 - stats.Level

// leastBlocks is how many blocks an interval of a ratio needs.
const leastBlocks = 4

// candidate is an environment that might be chosen.
type candidate struct {
	env     record.Environment
	runs    []*analyze.Result // those that have it
	require []Answer
	prefer  []Answer
}

// Run gives the advice for one use from some runs of one machine. Features may
// be nil.
func Run(results []*analyze.Result, features *record.Features, p Profile, o Options) (*Advice, error) {
	if len(results) == 0 {
		return nil, errors.New("advising: no run is given")
	}
	p.Matters = cmp.Or(p.Matters, defaultMatters)
	if !slices.ContainsFunc(p.Criteria, func(c Criterion) bool { return c.Weight > 0 }) {
		return nil, errors.New("advising: no criterion has a weight above 0")
	}
	a := &Advice{draws: cmp.Or(o.Draws, defaultDraws), Schema: Schema, Profile: p, Runs: []Source{}, Criteria: []Column{}, Ranked: []Ranked{}, Pairs: []Pair{},
		Apart: []Apart{}, Refused: []Refused{}, Remarks: []record.Remark{}}
	for _, r := range results {
		a.Runs = append(a.Runs, Source{ID: r.Run.ID, Study: r.Run.Study, Started: r.Run.Started, Blocks: r.Run.Blocks, Host: r.Run.Host, Repeat: r.Run.Repeat})
	}
	known := properties(features)
	if features != nil {
		a.Features = &Table{Tool: features.Tool.Version, Host: features.Host.Name}
	}
	for _, d := range slices.Concat(p.Require, p.Prefer) {
		for _, word := range d.Is {
			if known.find(word) == nil {
				return nil, &UnknownError{Where: d.Where, What: "property", Word: word, Known: known.words()}
			}
		}
	}
	results, apart := takenApart(results)
	cols, err := a.match(results, o)
	if err != nil {
		return nil, err
	}
	admitted := a.admit(candidates(results), known)
	cols = a.carried(cols, admitted)
	admitted = a.setApart(cols, admitted)
	a.didNotRun(results)
	a.rank(cols, admitted)
	a.judge()
	a.remarks(results, cols, features)
	a.savings(apart)
	return a, nil
}

// takenApart parts runs in which something was taken away from an engine from the
// others: what there is without is nobody's choice as it stands. Where there are no
// others they are all there is.
func takenApart(results []*analyze.Result) (whole, apart []*analyze.Result) {
	for _, r := range results {
		if len(r.Ablations) > 0 {
			apart = append(apart, r)
		} else {
			whole = append(whole, r)
		}
	}
	if len(whole) == 0 {
		return results, apart
	}
	return whole, apart
}

// savings are what the engines that are ranked can do without, and beside, in the order
// of the ranking.
func (a *Advice) savings(apart []*analyze.Result) {
	var seen []string
	for _, r := range a.Ranked {
		if slices.Contains(seen, r.Engine) {
			continue
		}
		seen = append(seen, r.Engine)
		for _, res := range apart {
			for _, x := range res.Ablations {
				if x.Engine != r.Engine {
					continue
				}
				for _, s := range x.Savings() {
					a.Savings = append(a.Savings, Saving{Engine: x.Engine, Mechanism: s.Mechanism, Title: s.Title, Price: s.Price, Saves: *s.Alone,
						Base: x.Base.Median.Value, Given: s.Given, Metric: x.Metric, Run: res.Run.ID})
				}
				for _, s := range x.Additions() {
					a.Additions = append(a.Additions, Addition{Engine: x.Engine, Mechanism: s.Mechanism, Title: s.Title, Gives: s.Price, Costs: *s.Alone,
						Base: x.Base.Median.Value, Metric: x.Metric, Run: res.Run.ID})
				}
			}
		}
	}
}

// candidates are the environments of all runs that are no baselines.
func candidates(results []*analyze.Result) []*candidate {
	var out []*candidate
	for _, r := range results {
		for _, e := range r.Environments {
			i := slices.IndexFunc(out, func(c *candidate) bool { return c.env.ID == e.ID })
			switch {
			case e.Baseline != "":
			case i >= 0:
				out[i].runs = append(out[i].runs, r)
			default:
				out = append(out, &candidate{env: e, runs: []*analyze.Result{r}})
			}
		}
	}
	return out
}

// admit keeps the environments of which every required property is known to
// hold, and refuses the others.
func (a *Advice) admit(all []*candidate, known catalogue) []*candidate {
	var out []*candidate
	for _, c := range all {
		c.require, c.prefer = known.answers(c, a.Profile.Require), known.answers(c, a.Profile.Prefer)
		not := lists.Filter(c.require, func(x Answer) bool { return x.State != Yes })
		if len(not) > 0 {
			a.Refused = append(a.Refused, Refused{Env: c.env.ID, Engine: c.env.Engine, Require: not})
			continue
		}
		out = append(out, c)
	}
	return out
}

// carried leaves the columns in which any of the admitted has a value; of the
// others nothing can be said. The shares are of those that are left.
func (a *Advice) carried(cols []*column, admitted []*candidate) []*column {
	var out []*column
	total := 0.0
	for _, c := range cols {
		reason, has := "", len(admitted) == 0
		for _, x := range admitted {
			why, lacks := c.lacks(x.env.ID)
			if !lacks {
				has = true
				break
			}
			reason = why
		}
		if !has {
			a.Criteria[c.at].Missing = "none of the environments that may be chosen has it: " + reason
			continue
		}
		total += a.Criteria[c.at].Weight
		out = append(out, c)
	}
	for _, c := range out {
		c.share = a.Criteria[c.at].Weight / total
		a.Criteria[c.at].Share = c.share
	}
	return out
}

// setApart keeps the environments that have data for every criterion that
// anyone has.
func (a *Advice) setApart(cols []*column, admitted []*candidate) []*candidate {
	var out []*candidate
	for _, x := range admitted {
		apart := Apart{Env: x.env.ID, Engine: x.env.Engine, Lacks: []Lack{}, Require: x.require}
		for _, c := range cols {
			if why, lacks := c.lacks(x.env.ID); lacks {
				apart.Lacks = append(apart.Lacks, Lack{Workload: c.work.ID, Metric: c.table.Metric.ID, Reason: why, Command: a.command(c, x)})
				continue
			}
			cell := c.table.Cell(x.env.ID)
			apart.Known = append(apart.Known, Measure{Criterion: c.at, Median: *cell.Median, N: cell.N})
		}
		if len(apart.Lacks) > 0 {
			a.Apart = append(a.Apart, apart)
			continue
		}
		out = append(out, x)
	}
	return out
}

// command is what would give an environment's data, "" where no run would: an
// engine that can't do a thing can't do it next time.
func (a *Advice) command(c *column, x *candidate) string {
	if n := c.count(x.env.ID); n != nil && len(n.Classes) > 0 && n.Classes[0].Class == record.Unsupported {
		return ""
	}
	for _, r := range x.runs {
		for _, e := range r.Excluded {
			if e.ID == x.env.ID && (e.Workload == "" || e.Workload == c.work.ID) {
				if e.Kind == "impossible" {
					return ""
				}
				return e.Fix
			}
		}
	}
	return a.measure(a.criterion(c)) + engine(a.Profile.Study, x.env.Engine)
}

func engine(study, name string) string {
	if study == "" {
		return ""
	}
	return " --engine " + name
}

// criterion finds the criterion that a column is of, since it comes from one.
func (a *Advice) criterion(c *column) *Criterion {
	return analyze.Find(a.Profile.Criteria, func(k *Criterion) bool {
		return k.is(c.work) && k.Metric == c.table.Metric.ID
	})
}

// didNotRun lists the environments that were asked for and are not here: of
// them nothing is known.
func (a *Advice) didNotRun(results []*analyze.Result) {
	seen := map[string]bool{}
	for _, r := range results {
		for _, e := range r.Environments {
			seen[e.ID] = true
		}
	}
	for _, r := range results {
		for _, x := range r.Excluded {
			if x.Workload != "" || x.Kind == "impossible" || seen[x.ID] {
				continue
			}
			seen[x.ID] = true
			a.Apart = append(a.Apart, Apart{Env: x.ID, Engine: x.Engine, Lacks: []Lack{{Reason: x.Kind + ": " + x.Reason, Command: x.Fix}}, Require: []Answer{}})
		}
	}
}

// remarks says what weakens the whole, and the runs' own warnings as far as
// they are of what counts here.
func (a *Advice) remarks(results []*analyze.Result, cols []*column, features *record.Features) {
	put := func(code, level, text, advice string) {
		a.Remarks = append(a.Remarks, record.Remark{Code: code, Level: level, Text: text, Advice: advice})
	}
	host := results[0].Run.Host
	for _, r := range results[1:] {
		if h := r.Run.Host; h.CPU != host.CPU || h.CPUs != host.CPUs || h.Kernel != host.Kernel {
			put("machines", "warn", fmt.Sprintf("run %s is of another machine or kernel than run %s: ratios to a baseline of its own session are compared, and may differ for that alone", r.Run.ID, results[0].Run.ID),
				"measure everything on the machine that the choice is for")
		}
	}
	if features != nil && features.Host.Name+features.Host.Kernel != "" && (features.Host.Name != host.Name || features.Host.Kernel != host.Kernel) {
		put("features-elsewhere", "warn", "the feature table is of another machine or kernel than the first run", "make it here: plimsoll features -o DIR")
	}
	if features == nil {
		put("no-features", "info", "no feature table is given: only what the run itself saw of each environment is known", "plimsoll features -o DIR puts one next to the run")
	}
	for _, r := range results {
		if r.Run.Gate != nil {
			put("gated", "warn", fmt.Sprintf("run %s ended when its gate was decided: differences that ended it are larger there than they are", r.Run.ID),
				"measure a number of blocks fixed in advance")
		}
	}
	ranked := map[string]bool{"": true}
	for _, r := range a.Ranked {
		ranked[r.Env] = true
	}
	for _, r := range results {
		for _, m := range r.Remarks {
			counts := func(c *column) bool {
				return c.work == r.Workload(m.Workload) && (m.Metric == "" || m.Metric == c.table.Metric.ID)
			}
			whole := m.Env == "" && m.Workload == ""
			if m.Level != "info" && (whole || ranked[m.Env] && slices.ContainsFunc(cols, counts)) {
				a.Remarks = append(a.Remarks, m)
			}
		}
	}
}
