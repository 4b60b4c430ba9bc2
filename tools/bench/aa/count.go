package aa

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/tools/bench/sharp"
)

// alarms counts how often one environment was told from itself.
type alarms struct {
	times int
	// interval: the 95 % interval of the ratio of start-up leaves out 1.
	// verdict: it lies outside ±delta; of two runs, it is called better or worse.
	// letters: the ranking gives the two no letter in common. compare: `plimsoll
	// compare` calls any metric better or worse.
	interval, verdict, letters, compare int
}

func (f *alarms) plus(x alarms) {
	f.times, f.interval, f.verdict = f.times+x.times, f.interval+x.interval, f.verdict+x.verdict
	f.letters, f.compare = f.letters+x.letters, f.compare+x.compare
}

// count looks at one pair of one run.
func (f *alarms) count(res *analyze.Result, a, b string) error {
	c, err := compare.Within(res, a, b, compare.Options{})
	if err != nil {
		return err
	}
	f.times++
	for i := range c.Cells {
		if v := c.Cells[i].Verdict; v == compare.Better || v == compare.Worse {
			f.compare++
			break
		}
	}
	t := res.Workloads[0].Table("startup")
	for _, p := range t.Pairs {
		if (p.A != a || p.B != b) && (p.A != b || p.B != a) || p.Lo == nil {
			continue
		}
		if *p.Lo > 1 || *p.Hi < 1 {
			f.interval++
		}
		if p.Verdict == analyze.Differs {
			f.verdict++
		}
	}
	if !strings.ContainsAny(t.Cell(a).Group, t.Cell(b).Group) {
		f.letters++
	}
	return nil
}

// countBetween looks at one environment in two runs.
func (f *alarms) countBetween(base, next *analyze.Result, env string) error {
	c, err := compare.Between(base, next, compare.Options{Filter: []compare.Filter{{Key: "environment", Values: []string{env}}}})
	if err != nil {
		return err
	}
	f.times++
	found := false
	for i := range c.Cells {
		ch := &c.Cells[i]
		differs := ch.Verdict == compare.Better || ch.Verdict == compare.Worse
		found = found || differs
		if ch.Metric.ID != "startup" || ch.Ratio == nil || ch.Ratio.Lo == nil {
			continue
		}
		if *ch.Ratio.Lo > 1 || *ch.Ratio.Hi < 1 {
			f.interval++
		}
		if differs {
			f.verdict++
		}
	}
	if found {
		f.compare++
	}
	return nil
}

// aaRow is an environment in a state of the machine, inside runs or between two.
type aaRow struct {
	env            string
	tuned, between bool
}

// aaTable is what was found, in the order in which it came.
type aaTable struct {
	order []aaRow
	rows  map[aaRow]*alarms
}

func (t *aaTable) row(r aaRow) *alarms {
	if t.rows == nil {
		t.rows = map[aaRow]*alarms{}
	}
	if t.rows[r] == nil {
		t.rows[r] = &alarms{}
		t.order = append(t.order, r)
	}
	return t.rows[r]
}

// inside compares the two entries of each environment in each part of a run.
func (t *aaTable) inside(parts []*analyze.Result, tuned bool) error {
	for _, res := range parts {
		for _, e := range res.Environments {
			name, ok := strings.CutSuffix(e.ID, "@a")
			if !ok {
				continue
			}
			if err := t.row(aaRow{name, tuned, false}).count(res, e.ID, name+"@b"); err != nil {
				return err
			}
		}
	}
	return nil
}

// between compares each environment in the parts of a run with itself in those of
// the next one, the first with the first and so on.
func (t *aaTable) between(base, next []*analyze.Result, tuned bool) error {
	for i := range min(len(base), len(next)) {
		for _, e := range base[i].Environments {
			name, _, twice := strings.Cut(e.ID, "@")
			if !twice || next[i].Environment(e.ID) == nil {
				continue
			}
			if err := t.row(aaRow{name, tuned, true}).countBetween(base[i], next[i], e.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// print shows each row, and of each kind the sum with its upper bound.
func (t *aaTable) print(w io.Writer) {
	fmt.Fprintf(w, "Told from itself, in so many of the comparisons of %d blocks:\n", blocksAA)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "environment\tmachine\tall\tinterval\tverdict\tletters\tcompare")
	line := func(name, state string, f *alarms, between bool) {
		letters := fmt.Sprint(f.letters)
		if between {
			letters = "" // two runs have no common ranking
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d\t%d\t%s\t%d\n", name, state, f.times, f.interval, f.verdict, letters, f.compare)
	}
	var all alarms
	for _, between := range []bool{false, true} {
		where := "inside one run"
		if between {
			where = "between two runs"
		}
		var sum alarms
		fmt.Fprintf(tw, "%s\t\t\t\t\t\t\n", where)
		for _, r := range t.order {
			if r.between == between {
				line("  "+r.env, sharp.State(r.tuned), t.rows[r], between)
				sum.plus(*t.rows[r])
			}
		}
		line("  sum", "", &sum, between)
		all.plus(sum)
	}
	line("all", "", &all, true)
	_ = tw.Flush() // what is printed to a terminal or a file is looked at
	if all.times > 0 {
		most := func(k int) float64 { return 100 * stats.Wilson(k, all.times, stats.Level).Hi }
		fmt.Fprintf(w, "Of %d comparisons %d are false alarms by verdict and %d by any metric: at most %.1f %% and %.1f %% (95 %% intervals); %d intervals leave out 1, at most %.1f %%.\n",
			all.times, all.verdict, all.compare, most(all.verdict), most(all.compare), all.interval, most(all.interval))
	}
	fmt.Fprint(w, `interval: the 95 % interval of the ratio of start-up leaves out 1. verdict: it lies outside ±1 %, and between two runs
start-up is called better or worse. letters: the ranking gives the two no letter in common. compare: plimsoll compare
calls any metric better or worse.
`)
}
