package evaluate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/common/tested"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// The levels of a remark.
const (
	info = "info"
	warn = "warn"
)

// ownFrom is the share of a processor from which on our own use of it is said.
const ownFrom = 0.05

// remarks collects all oddities: first those of the run, then those of the
// cells, in the run's order.
func (s *store) remarks(res *analyze.Result, fromReader []record.Remark) []record.Remark {
	var out []record.Remark
	out = append(out, s.runRemarks()...)
	out = append(out, fromReader...)
	out = append(out, s.run.Host.Remarks...)
	out = append(out, res.Audit.Remarks()...)
	for w := range res.Workloads {
		work := &res.Workloads[w]
		out = append(out, s.programRemarks(w)...)
		out = append(out, ownFilesRemarks(res, work)...)
		for e := range s.run.Environments {
			out = append(out, s.countRemarks(work, w, e)...)
		}
		out = append(out, s.wildRemarks(work, w)...)
		for t := range work.Tables {
			out = append(out, tableRemarks(work, &work.Tables[t], s.run.Environments)...)
			if c, _, agree := work.Tables[t].Checked(); c != nil && !agree {
				out = append(out, record.Remark{Code: "check-differs", Level: warn, Workload: work.ID, Metric: work.Tables[t].Metric.ID,
					Text: "the check is not the same everywhere: not the same work was done", Advice: "compare no times of this workload before you know why"})
			}
		}
	}
	return out
}

func (s *store) runRemarks() []record.Remark {
	var out []record.Remark
	add := func(code, level, text, advice string) {
		out = append(out, record.Remark{Code: code, Level: level, Text: text, Advice: advice})
	}
	switch {
	case s.run.Status == "running":
		add("incomplete", info, fmt.Sprintf("the run is not finished: %d trials so far", s.trials),
			"if it was killed, continue it with --resume")
	case s.run.Status != "done":
		add("incomplete", warn, fmt.Sprintf("the run was interrupted after %d trials", s.trials), "continue it with --resume")
	}
	for _, l := range s.run.Looks {
		if text := lookText(l); text != "" {
			add("looked", info, text, "")
		}
	}
	if n := len(s.blocks); n > 0 && n < sample.MinRank {
		text := "intervals of ratios are Student's and preliminary"
		if n < sample.MinT {
			text = "too few for the interval of a ratio"
		}
		add("preliminary", warn, fmt.Sprintf("only %s: %s", count(n, "block"), text),
			fmt.Sprintf("measure at least %d blocks, better 10 to 20", sample.MinRank))
	}
	if s.run.Protocol.Order != "" && s.run.Protocol.Order != "random" {
		add("order", warn, "the order of the trials was not random: drift of the machine affects the environments unequally, and no interval covers that",
			"use the order random for anything but a demonstration")
	}
	for _, from := range slices.Sorted(maps.Keys(s.run.Study.Images)) {
		add("images-bound", info, fmt.Sprintf("the study's image %s was bound to %s, which ran in its place", from, s.run.Study.Images[from]),
			"run it with its own image before you read anything into a difference that the image may cause")
	}
	if s.stolen > 0 {
		level, share := info, s.stolenNS/s.lastedNS
		if share > 0.01 {
			level = warn
		}
		add("steal", level, fmt.Sprintf("%s of %d lost more than 1 %% of their time to the hypervisor, all together %.2g %%", count(s.stolen, "trial"), s.trials-s.warmup, 100*share),
			"measure on a quieter or a dedicated machine")
	}
	for _, e := range s.run.Earlier {
		var unlike []string
		for _, d := range e.Differs {
			if d.Unlike {
				unlike = append(unlike, d.String())
			}
		}
		if len(unlike) > 0 {
			add("unlike-parts", warn, fmt.Sprintf("the run was resumed at %s on something other than it began on (%s): its times mix both", e.Until.UTC().Format("2006-01-02 15:04 UTC"), strings.Join(unlike, "; ")),
				"measure again for numbers of one machine; run.json has the facts of both")
		}
	}
	if o := s.run.Own; o != nil && o.TimedShare() > ownFrom {
		add("own-load", info, fmt.Sprintf("while something was being measured, Plimsoll itself took %.2g %% of a processor", 100*o.TimedShare()),
			"clients that it is itself, of an engine's API, are part of that; sampling is another: see collect in the study")
	}
	if len(s.run.Residue) > 0 {
		add("residue", warn, fmt.Sprintf("the audit at the end found %s of this run left behind, first: %s", count(len(s.run.Residue), "thing"), s.run.Residue[0]),
			"remove it by `plimsoll clean`; what was left behind early may have slowed what came later")
	}
	for _, e := range s.run.Environments {
		if e.Unverified {
			out = append(out, record.Remark{Code: "unverified", Level: warn, Env: e.ID,
				Text:   "this engine, or a level of it, was never tried on the real system by the authors",
				Advice: "compare one start with the engine's own command before you trust it"})
		}
	}
	var programs []tested.Program
	for _, e := range s.run.Environments {
		programs = append(programs, tested.Programs(e.Engine, e.Facts)...)
	}
	if text := tested.Untested(programs, s.run.Host.OS); text != "" {
		add("untested", info, text, "compare one start with the engine's own command before you trust it; `plimsoll engines` lists what was tested")
	}
	for _, a := range s.run.Agents {
		for _, source := range a.Sources {
			if source.Unverified {
				add("unverified-storage", warn, fmt.Sprintf("the reader of %s, whose counters the agent %s gave, was never tried on the real file system by its authors", source.Name, a.Name),
					"write a file of a known size and compare the bytes before you trust it")
			}
		}
	}
	return out
}

func (s *store) countRemarks(work *analyze.Workload, w, e int) []record.Remark {
	var out []record.Remark
	c, n := s.cells[w][e], work.Counts[e]
	add := func(code, level, text, advice string) {
		out = append(out, record.Remark{Code: code, Level: level, Text: text, Advice: advice, Env: n.Env, Workload: work.ID})
	}
	for _, f := range n.Classes {
		advice := "its times are of the trials that worked; see output/ for what the engine said"
		switch {
		case n.Failed == n.Trials:
			advice = "there is no time of it; see output/ for what the engine said"
		case f.Class == record.TimeOut:
			advice = "these are longer than the time limit, not missing: the median of the others is too good"
		}
		add("failures", warn, fmt.Sprintf("%s of %d failed (%s): %s", count(f.N, "trial"), n.Trials, f.Class, f.Text), advice)
	}
	if want := s.wanted(n.Env, work.ID) * max(1, s.run.Protocol.PerBlock); s.run.Status == "done" && n.Trials > 0 && n.Trials < want {
		add("incomplete", warn, fmt.Sprintf("%s of the %d planned", count(n.Trials, "trial"), want), "continue the run with --resume")
	}
	if c.throttled > 0 {
		add("throttled", info, fmt.Sprintf("%s of %d were held back by the study's CPU limit", count(c.throttled, "trial"), n.Trials),
			"their times include waiting for CPU time; raise the limit to see them without")
	}
	if c.foreign > 0 {
		add("foreign-clock", info, "the container has a clock of its own: phases between outside and inside cannot be measured",
			"compare start-up, which is stamped outside only")
	}
	for _, m := range s.metrics[w] {
		if k := c.negative[m.ID]; k > 0 {
			out = append(out, record.Remark{Code: "negative", Level: warn, Env: n.Env, Workload: work.ID, Metric: m.ID,
				Text:   fmt.Sprintf("%s of %s below 0: its events came in an impossible order", count(k, "value"), m.Title),
				Advice: "do not use this cell; run `plimsoll selftest`"})
		}
	}
	for _, r := range c.remarks {
		add("trial", info, fmt.Sprintf("%s: %s", count(r.n, "trial"), r.text), "")
	}
	return out
}

func tableRemarks(work *analyze.Workload, t *analyze.Table, envs []record.Environment) []record.Remark {
	var out []record.Remark
	var taus, drifts []float64
	for e := range t.Cells {
		tau, p := 0.0, math.NaN()
		if m := t.Cells[e].Medians; len(m) >= sample.MinRank && len(m) <= 5000 {
			tau, p = stats.MannKendall(m)
		}
		taus, drifts = append(taus, tau), append(drifts, p)
	}
	holm := stats.Holm(drifts)
	for e := range t.Cells {
		c := &t.Cells[e]
		if c.Median == nil {
			continue
		}
		add := func(code, level, text, advice string) {
			out = append(out, record.Remark{Code: code, Level: level, Text: text, Advice: advice,
				Env: c.Env, Workload: work.ID, Metric: t.Metric.ID})
		}
		m := c.Medians
		switch {
		case c.N < sample.MinRank:
			add("few", warn, fmt.Sprintf("only %s: too few for an interval", count(c.N, "value")), fmt.Sprintf("measure at least %d", sample.MinRank))
		case c.Median.Lo == nil:
			add("few", warn, fmt.Sprintf("only %s: too few for an interval, since the values of a block are alike", count(c.Blocks, "block")),
				fmt.Sprintf("measure at least %d blocks", sample.MinRank))
		}
		if holm[e] < sample.Alpha {
			way := "rose"
			if taus[e] < 0 {
				way = "fell"
			}
			add("drift", warn, fmt.Sprintf("values %s over the run (Kendall's τ %.2f)", way, taus[e]),
				"ratios are taken inside blocks and stand; do not quote the median as a property of the engine")
		}
		if slow, by := firstSlow(m); slow {
			add("first-slow", info, fmt.Sprintf("the first block took %.2g times as long as the others", by), "use one warm-up block more")
		}
		if c.N >= 20 && float64(c.Outliers) > 0.05*float64(c.N) {
			add("outliers", info, fmt.Sprintf("%d of %d values lie far out (Tukey's far fences); they are counted, not removed", c.Outliers, c.N),
				"look at the spread and the maximum besides the median")
		}
		if b := envs[e].Baseline; (b == "native" || b == "floor") && t.Metric.ID == "startup" && len(m) >= sample.MinRank {
			if sd := 1.4826 * stats.MAD(stats.Sorted(logs(m))); sd > 0.10 {
				add("baseline-unstable", warn, fmt.Sprintf("the baseline itself moved by %.0f %% from block to block", 100*(math.Exp(sd)-1)),
					"ratios to it are wide for that reason; run `plimsoll doctor` and measure on a quieter machine")
			}
		}
		if c.TwoHumps {
			add("humps", info, "the values fall into two humps (dip test, 1 %): one number does not describe them",
				"look for what alternates: a cache, a garbage collection, two CPUs")
		}
		if c.N >= 10 && 2*c.Distinct < c.N {
			add("quantised", info, fmt.Sprintf("only %d different values among %d: something rounds them", c.Distinct, c.N),
				"differences below the rounding cannot be seen here")
		}
		for _, r := range c.Ratios {
			if r.Skewed {
				add("skewed", info, "the rank-based and Student's estimate of the ratio to "+r.Baseline+" lie further apart than the interval is wide",
					"a few blocks are unlike the others: look at the values by block")
				break
			}
		}
	}
	return out
}

// firstSlow says whether the first block lies above the far fence of the
// others and at least a tenth above their median.
func firstSlow(m []float64) (bool, float64) {
	if len(m) < sample.MinRank+1 {
		return false, 0
	}
	rest := stats.Sorted(m[1:])
	med := stats.Median(rest)
	fence := stats.Quantile(rest, 0.75) + 3*stats.IQR(rest)
	return m[0] > fence && med > 0 && m[0] > 1.1*med, m[0] / med
}

// logs leaves out what has none.
func logs(x []float64) []float64 {
	var out []float64
	for _, v := range x {
		if v > 0 {
			out = append(out, math.Log(v))
		}
	}
	return out
}

func count(n int, what string) string {
	if n != 1 && !strings.HasSuffix(what, "s") {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
