package verdict

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// care begins what speaks against a verdict.
const care = "Caution: "

// state says how far the run has come.
func (q *question) state() string {
	switch run := q.res.Run; run.Status {
	case "done":
		return fmt.Sprintf("The run is over, with %s.", words.Plural(run.Trials, "trial"))
	case "running":
		return fmt.Sprintf("The run is not finished: %s so far.", words.Plural(run.Trials, "trial"))
	default:
		return fmt.Sprintf("The run was interrupted after %s.", words.Plural(run.Trials, "trial"))
	}
}

// sure is the last sentence of a verdict: what speaks against it, else what it
// rests on.
func (q *question) sure() string {
	doubts := q.doubts()
	if also := q.also(); len(also) > 0 {
		doubts = append(doubts, Besides(also))
	}
	if len(doubts) > 0 {
		return care + strings.Join(doubts, "; ") + q.needed() + "."
	}
	s := fmt.Sprintf("Based on %s", words.Plural(q.cell().Blocks, "block"))
	if q.table.Test != "" {
		s += fmt.Sprintf("; differences are tested within blocks (%s, 5 %% over %s)", q.table.Test, words.Plural(len(q.table.Pairs), "pair"))
	}
	return s + q.needed() + "."
}

// Besides says in which properties two environments differ that their names don't name.
func Besides(keys []string) string {
	return "the first two also differ in " + properties(keys)
}

// properties lists some.
func properties(keys []string) string {
	const most = 3
	var said []string
	for _, k := range keys {
		if k == "ns.net" && slices.Contains(keys, "network") {
			continue // the host's network is the host's network namespace
		}
		if n, ok := strings.CutPrefix(k, "ns."); ok {
			k = n + " namespace"
		}
		said = append(said, k)
	}
	return words.List(said[:min(most, len(said))])
}

// also are the properties in which the first two differ that their names don't name.
func (q *question) also() []string {
	if p := q.pair(q.first[0], q.next); p != nil && p.Missing == "" {
		return p.Also
	}
	return nil
}

func (q *question) doubts() []string {
	var out []string
	run, best := q.res.Run, q.first[0]
	switch run.Status {
	case "done":
	case "running":
		out = append(out, "the run is not finished")
	default:
		out = append(out, "the run was interrupted")
	}
	if run.Imported != nil {
		out = append(out, "the numbers are imported, and were not measured in turn")
	}
	if q.preliminary() {
		out = append(out, fmt.Sprintf("with only %s it is preliminary", words.Plural(q.cell().Blocks, "block")))
	}
	for _, c := range q.work.Counts {
		if c.Failed > 0 && (c.Env == best || c.Env == q.next) {
			out = append(out, fmt.Sprintf("%d of %s of %s failed", c.Failed, words.Plural(c.Trials, "trial"), q.name(c.Env)))
		}
	}
	for _, e := range []string{best, q.next} {
		if e != "" && q.env(e).Unverified {
			out = append(out, "the support for "+q.name(e)+" is unverified: it was never tried on the real system")
		}
	}
	if p := q.pair(best, q.next); p != nil && p.Missing == "" {
		if floor := q.noise(); floor > 0 && inverse(p.Estimate).Value-1 < floor && p.Value-1 < floor {
			out = append(out, fmt.Sprintf("the difference is not larger than the noise floor of %.2g %%", 100*floor))
		}
	}
	return out
}

// needed says how many blocks would decide between the first two.
func (q *question) needed() string {
	n := q.blocks()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; about %d blocks would tell %s from %s", n, q.name(q.first[0]), q.name(q.first[1]))
}

// blocks are about how many would decide between the first two, where that is a
// number that somebody may measure, else 0.
func (q *question) blocks() int {
	const worth = 10 // times as many as there are
	if len(q.first) < 2 || q.same() {
		return 0
	}
	p := q.pair(q.first[0], q.first[1])
	if p == nil || p.BlocksNeeded == 0 || p.BlocksNeeded > worth*p.Blocks {
		return 0
	}
	return p.BlocksNeeded
}

// preliminary says whether fewer than 6 blocks stand behind what is said.
func (q *question) preliminary() bool {
	if slices.ContainsFunc(q.res.Remarks, func(m record.Remark) bool { return m.Code == "preliminary" }) {
		return true
	}
	if p := q.pair(q.first[0], q.next); p != nil && p.Preliminary() {
		return true
	}
	if len(q.first) > 1 {
		if p := q.pair(q.first[0], q.first[1]); p != nil && p.Preliminary() {
			return true
		}
	}
	return slices.ContainsFunc(q.cell().Ratios, func(r analyze.Ratio) bool { return r.Preliminary() })
}

// noise is the largest noise floor that is known of the metric.
func (q *question) noise() float64 {
	most := 0.0
	for _, n := range q.res.Run.Noise {
		if n.Metric == q.table.Metric.ID && (n.Workload == "" || n.Workload == q.work.ID) {
			most = max(most, n.Relative)
		}
	}
	return most
}
