package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// step is a part of a duration, by its median.
type step struct {
	metric record.Metric
	ns     float64
}

// because says what the time of the slowest engine goes into of those whose steps are
// known, and the command that follows it; nothing where nobody's are.
func (q *question) because() string {
	m := q.table.Metric
	if !analyze.Duration(m) || m.To == record.Removed || q.next == "" {
		return ""
	}
	for _, env := range slices.Backward(q.all) {
		whole := q.table.Cell(env).Median.Value
		var said []string
		for _, p := range q.steps(env) {
			if p.ns >= whole*least {
				said = append(said, cmp.Or(p.metric.Title, p.metric.ID)+" "+words.Amount(p.ns, m.Unit))
			}
		}
		if len(said) < 2 || env == q.first[0] {
			continue // one alone is all that is known of it
		}
		s := fmt.Sprintf("Why: the %s of %s consist mostly of %s", words.Amount(whole, m.Unit), q.name(env), words.List(said))
		if q.work.ID == "hello" && q.res.Run.Imported == nil {
			s += fmt.Sprintf("; `plimsoll %s` shows what waits for what", harmless.ShellLine(q.explain(env)))
		}
		return s + "."
	}
	return ""
}

// least is the least share of a duration that is named.
const least = 0.05

// steps are those of an environment's value, the longest first.
func (q *question) steps(env string) []step {
	var parts []step
	for i := range q.work.Tables {
		t := &q.work.Tables[i]
		if c := t.Cell(env); c != nil && c.Median != nil && c.Missing == "" && analyze.Within(t.Metric, q.table.Metric) {
			parts = append(parts, step{t.Metric, c.Median.Value})
		}
	}
	parts = analyze.Steps(parts, func(s step) record.Metric { return s.metric })
	slices.SortStableFunc(parts, func(a, b step) int { return cmp.Compare(b.ns, a.ns) })
	return parts
}

// explain is the command that follows an environment's starts.
func (q *question) explain(env string) []string {
	e := q.env(env)
	out := []string{"explain", words.Clean(e.Engine)}
	for _, f := range slices.Sorted(maps.Keys(e.Levels)) {
		out = append(out, words.Clean(f+"="+e.Levels[f]))
	}
	return out
}
