package history

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// remarks says what a reader of a history must know.
func (h *History) remarks() {
	add := func(code, level, advice, format string, a ...any) {
		h.Remarks = append(h.Remarks, record.Remark{Code: code, Level: level, Text: fmt.Sprintf(format, a...), Advice: advice})
	}
	if n := len(h.Runs); n < stats.MinBreakable {
		add("short", "warn", "keep the runs and add more", "%d of the %d runs that a change of level needs to be told from chance: no change can be found yet", n, stats.MinBreakable)
	}
	for _, r := range h.Runs {
		if r.Status != "done" {
			add("incomplete", "warn", "continue it with plimsoll run --resume DIR", "run %s (%s) is not done (%s): its values are of %s", r.Run, r.Dir, r.Status, blocksText(r.Blocks))
		}
	}
	h.gaps(add)
	if absolute := lists.Count(h.Series, func(s Series) bool { return s.absolute() }); absolute > 0 {
		add("absolute", "warn", "run native or floor in each", "%d series of absolute values: how fast the machine was on each day is in them", absolute)
	}
	for _, c := range h.Changes {
		if !c.Confirmed {
			s := &h.Series[c.Series]
			h.Remarks = append(h.Remarks, record.Remark{Code: "unconfirmed", Level: "info", Env: s.Env, Workload: s.Workload, Metric: s.Metric.ID,
				Text: fmt.Sprintf("run %s lies off the level before it, and no run after it agrees", h.Runs[c.After].Run), Advice: "run once more"})
		}
	}
}

// maxNamed is how many series a remark names.
const maxNamed = 4

// gaps says which runs lack a value, environments with one reason together.
func (h *History) gaps(add func(code, level, advice, format string, a ...any)) {
	type gap struct {
		why  string
		runs string
		lost bool
	}
	var names analyze.Grouped[gap, string]
	for i := range h.Series {
		s := &h.Series[i]
		var reasons analyze.Grouped[string, string]
		for r, p := range s.Points {
			if p.Missing != "" {
				reasons.Add(p.Missing, h.Runs[r].Run)
			}
		}
		for w, runs := range reasons.All() {
			g := gap{why: w, runs: runNames(runs, len(s.Points)), lost: h.lost(s) && s.Points[len(s.Points)-1].Missing == w}
			names.Add(g, s.Env+" of "+s.Workload+" ("+s.Metric.ID+")")
		}
	}
	for g, list := range names.All() {
		code, level, advice := "gap", "info", ""
		if g.lost {
			code, level, advice = "lost", "warn", "plimsoll engines says what is usable here, and why not"
		}
		more, verb := "", "have"
		if len(list) == 1 {
			verb = "has"
		}
		if len(list) > maxNamed {
			list, more = list[:maxNamed], fmt.Sprintf(" and %d more", len(list)-maxNamed)
		}
		add(code, level, advice, "%s in %s: %s%s %s no value", g.why, g.runs, strings.Join(list, ", "), more, verb)
	}
}

// runNames names the runs, of all that there are.
func runNames(ids []string, all int) string {
	switch {
	case len(ids) == all:
		return "each run"
	case len(ids) == 1:
		return "run " + ids[0]
	case len(ids) > 2*maxNamed:
		return fmt.Sprintf("%d of %d runs, the last of them %s", len(ids), all, ids[len(ids)-1])
	}
	return "the runs " + strings.Join(ids, ", ")
}

// lost says that the last run lacks what the run before it had.
func (h *History) lost(s *Series) bool {
	n := len(s.logs)
	return n > 1 && math.IsNaN(s.logs[n-1]) && !math.IsNaN(s.logs[n-2])
}

func blocksText(n int) string {
	if n == 1 {
		return "1 block"
	}
	return strconv.Itoa(n) + " blocks"
}

// where names the step that made it worse.
func (c *Change) where() string {
	if p := compare.Most(c.Steps, 1); p != nil {
		return ", most of it in " + p.Name
	}
	return ""
}

// Judge makes a gate of it: it fails where the last change of any series is for
// the worse and confirmed, and where the last run has lost a value. It is
// inconclusive where directories were skipped, where a history is too short,
// and where a change for the worse is not confirmed.
func (h *Histories) Judge() {
	g := &Gate{State: compare.Passed, Reasons: []string{}}
	say := func(s compare.State, format string, a ...any) {
		if s == compare.GateFails || g.State == compare.Passed {
			g.State = s
		}
		g.Reasons = append(g.Reasons, string(s)+": "+fmt.Sprintf(format, a...))
	}
	for _, s := range h.Skipped {
		say(compare.Inconclusive, "%s is in no history: %s", s.Dir, s.Reason)
	}
	for i := range h.Histories {
		x := &h.Histories[i]
		for _, c := range x.Changes {
			s := &x.Series[c.Series]
			switch {
			case c.Direction != compare.Worse || c.Confirmed && !c.Standing:
			case c.Confirmed:
				say(compare.GateFails, "%s of %s in %s is worse since run %s%s", s.Metric.ID, s.Workload, s.Env, x.Runs[c.After].Run, c.where())
			default:
				say(compare.Inconclusive, "%s of %s in %s may be worse since run %s: no run confirms it", s.Metric.ID, s.Workload, s.Env, x.Runs[c.After].Run)
			}
		}
		for k := range x.Series {
			if s := &x.Series[k]; x.lost(s) {
				say(compare.GateFails, "the last run has lost %s of %s in %s: %s", s.Metric.ID, s.Workload, s.Env, s.Points[len(s.Points)-1].Missing)
			}
		}
		if !slices.ContainsFunc(x.Series, func(s Series) bool { return !s.Short }) {
			say(compare.Inconclusive, "the history of %s on %s has fewer than %d runs with a value: no change can be found", x.Study, x.Machine, stats.MinBreakable)
		}
	}
	h.Gate = g
}

// apart says why the runs of a history do not continue the first one before it of the
// same study: two of one name would look like one that was torn.
func (h *History) apart(before []History) {
	first := analyze.Find(before, func(x *History) bool { return x.Study == h.Study })
	if first == nil {
		return
	}
	var why []string
	for _, f := range compare.Facts(first.results[0], h.results[0]) {
		if f.Bars {
			why = append(why, fmt.Sprintf("%s %s %s against %s", f.Where, f.Key, f.New, f.Base))
		}
	}
	h.Remarks = append(h.Remarks, record.Remark{Code: "apart", Level: "info",
		Text: fmt.Sprintf("these runs do not continue the history of run %s, with which they can't be compared: %s", first.Runs[0].Run, strings.Join(why, "; "))})
}
