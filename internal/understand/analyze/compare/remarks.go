package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// remarks says what a reader of the table must know.
func (c *Changes) remarks() {
	add := func(code, level, advice, format string, a ...any) {
		c.Remarks = append(c.Remarks, record.Remark{Code: code, Level: level, Text: fmt.Sprintf(format, a...), Advice: advice})
	}
	if c.Base.Env == "" && c.BaseRun.Run.ID == c.NewRun.Run.ID {
		add("same-run", "warn", "give two runs, or two environments of one by --env", "BASE and NEW are the same run: nothing can differ")
	}
	if bars := c.Barred(); len(bars) > 0 {
		add("unlike", "warn", "measure both on one machine, with one protocol", "the two runs differ in what decides how fast things are: %s", strings.Join(bars, "; "))
	}
	for _, s := range []struct {
		name string
		r    *analyze.Result
	}{{"BASE", c.BaseRun}, {"NEW", c.NewRun}} {
		if s.r.Run.Status != "done" {
			add("incomplete", "warn", "continue it with plimsoll run --resume DIR", "%s is not done (%s): cells may be missing, and intervals are wide", s.name, s.r.Run.Status)
		} else if why := Truncated(s.r); why != "" {
			add("incomplete", "warn", "if it was copied, copy it again; else continue it with plimsoll run --resume DIR", "%s is marked as done but is incomplete: %s", s.name, why)
		}
		if s.r.Run.Protocol.Order == "sequential" && s.r.Run.Imported == nil {
			add("sequential", "warn", "measure with the order random", "%s ran its environments one after the other: a drift of the machine looks like a difference", s.name)
		}
		if c.Base.Env != "" {
			break
		}
	}
	if c.BaseRun.Run.Imported != nil || c.NewRun.Run.Imported != nil {
		add("not-interleaved", "warn", "don't trust a small difference; measure both as environments of one study with plimsoll run", "imported numbers were measured one after the other: whatever the machine did in between looks like a difference, and no interval covers that")
	}
	c.stateRemark()
	if busy := c.begunBusy(); busy > mostBusy {
		add("not-calm", "warn", "end what else is at work, and measure again", "%.0f %% of the trials began before the machine was calm: if one of the two leaves work behind, that slows down the other, which has the next turn more often, and no interval covers it", 100*busy)
	}
	absolute, lost, few := 0, 0, 0
	var by []string
	var controls controls
	for i := range c.Cells {
		ch := &c.Cells[i]
		switch {
		case ch.Lost:
			lost++
		case ch.Ratio == nil || ch.Method == "identical":
		case ch.Ratio.Lo == nil:
			few++
		case ch.Control != nil:
			controls.add(ch)
		case ch.Absolute():
			absolute++
		case ch.Against != "" && !slices.Contains(by, ch.Against):
			by = append(by, ch.Against)
		}
	}
	if len(by) > 0 {
		add("not-interleaved", "info", "", "the two runs share no block: each value was divided by %s of its own block, which cancels how fast the machine was then, but not what changed in one environment alone", strings.Join(by, " or "))
	}
	if controls.cells > 0 {
		c.Remarks = append(c.Remarks, controls.remarks()...)
	}
	if absolute > 0 {
		add("absolute", "warn", "run native or floor in both", "%s of absolute values of two sessions: a machine that is 5 %% faster on one day looks like a change", cellsOf(absolute))
	}
	if lost > 0 {
		add("lost", "warn", "plimsoll engines says what is usable here, and why not", "%s with a value in BASE and none in NEW", cellsOf(lost))
	}
	if few > 0 {
		add("few", "warn", "run at least 6 blocks", "%s with too few blocks for an interval", cellsOf(few))
	}
	c.failureRemarks()
	c.hidden()
}

// mostBusy is the share of trials that may begin on a busy machine without a word, where
// two environments of one run are compared. Others' work slows down both alike; only what
// they leave behind does not, and a few such trials hardly move a median.
const mostBusy = 0.5

// begunBusy is the larger share of the trials of two environments of one run that began
// on a machine that was not calm; of two runs the interval has what follows from it.
func (c *Changes) begunBusy() (share float64) {
	if c.Base.Env == "" {
		return 0
	}
	for i := range c.BaseRun.Workloads {
		for _, env := range []string{c.Base.Env, c.New.Env} {
			if b := c.BaseRun.Workloads[i].BesideOf(env); b != nil {
				share = max(share, b.Busy)
			}
		}
	}
	return share
}

// Truncated says what a run lacks that is said to be done: what was lost on
// the way of a copy, or by a full disk. "" where it is whole.
func Truncated(r *analyze.Result) string {
	if r.Run.Status != "done" {
		return ""
	}
	for _, code := range []string{"torn-tail", "lines-missing", "incomplete"} {
		for _, m := range r.Remarks {
			if m.Code == code && m.Env != "" {
				return "of " + m.Env + " " + m.Text
			}
			if m.Code == code {
				return m.Text
			}
		}
	}
	return ""
}

// Whole says that both sides have all that they were to have, NEW by now where
// it is looked at while it goes on.
func (c *Changes) Whole(looking bool) bool {
	for _, r := range []*analyze.Result{c.BaseRun, c.NewRun} {
		if looking && r == c.NewRun {
			continue
		}
		if r.Run.Status != "done" || Truncated(r) != "" {
			return false
		}
	}
	return true
}

// Barred lists the differences with which a gate says nothing.
func (c *Changes) Barred() []string {
	var out []string
	for _, f := range c.Facts {
		if f.Bars {
			out = append(out, fmt.Sprintf("%s %s: %s, now %s", f.Where, f.Key, cmp.Or(f.Base, "none"), cmp.Or(f.New, "none")))
		}
	}
	return out
}

func cellsOf(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return strconv.Itoa(n) + " cells"
}

// failureRemarks say where more trials failed in NEW.
func (c *Changes) failureRemarks() {
	for i := range c.Failures {
		f := &c.Failures[i]
		if !f.More() {
			continue
		}
		level := "info"
		if f.Worse {
			level = "warn"
		}
		c.Remarks = append(c.Remarks, record.Remark{Code: "more-failures", Level: level, Env: f.Env, Workload: f.Workload,
			Text:   fmt.Sprintf("%d of %d trials of %s failed in BASE and %d of %d in NEW: the times are of those that did not", f.BaseFailed, f.BaseTrials, f.Env, f.NewFailed, f.NewTrials),
			Advice: "plimsoll report says how they failed"})
	}
}
