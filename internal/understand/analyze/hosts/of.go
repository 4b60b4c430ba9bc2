package hosts

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Hosts is what the runs that were added say together.
func (g *Gathering) Hosts() (*Hosts, error) {
	against, err := g.base()
	if err != nil {
		return nil, err
	}
	run := &g.first.Run
	h := &Hosts{Schema: schema, Study: studyOf(run), Title: run.Title, Delta: run.Delta, Hosts: []Host{}, Tables: []Table{}, Remark: []record.Remark{}}
	for _, x := range g.hosts {
		h.Hosts = append(h.Hosts, x.Host)
	}
	for _, t := range g.tables {
		h.Tables = append(h.Tables, g.tableOf(t, against, run.Delta))
	}
	if len(h.Tables) == 0 {
		if g.o.Metric != "" {
			return nil, fmt.Errorf("no workload of these runs has a value of the metric %q", g.o.Metric)
		}
		return nil, fmt.Errorf("no workload of these runs has a value of a metric that it shows")
	}
	h.finish()
	h.together()
	h.ways(g.hosts)
	h.unfinished(g.o.Resume)
	return h, nil
}

// finish says whether hosts are pooled, and remarks on what is uneven.
func (h *Hosts) finish() {
	n := len(h.Hosts)
	h.Pools = n >= stats.MinPool
	if !h.Pools {
		h.WhyNot = whyNotPooled(n)
	}
	least, most := h.Hosts[0].Blocks, h.Hosts[0].Blocks
	for _, x := range h.Hosts {
		least, most = min(least, x.Blocks), max(most, x.Blocks)
	}
	if most > 2*least && least > 0 {
		h.Remark = append(h.Remark, record.Remark{Code: "hosts-uneven", Level: "info",
			Text: fmt.Sprintf("hosts have between %d and %d blocks: the ratios of those with few are known less well, and count less", least, most)})
	}
}

// whyNotPooled says why a few hosts have no pooled interval.
func whyNotPooled(n int) string {
	return fmt.Sprintf("%d hosts say too little of the spread between hosts for an interval that is about machines in general: it takes %d. What is said here is about these %d", n, stats.MinPool, n)
}

// tableOf computes one table.
func (g *Gathering) tableOf(t *gatheredTable, against string, delta float64) Table {
	out := Table{Workload: t.workload, Title: t.title, Metric: t.metric, Rows: []Row{}, Times: []Times{}}
	var logs [][][]float64 // by row and host
	for _, env := range t.envs {
		times := Times{Env: env, Baseline: g.baseline(env)}
		for i := range g.hosts {
			times.Hosts = append(times.Hosts, t.timeOf(cellAt{env, i}))
		}
		out.Times = append(out.Times, times)
		row := Row{Env: env, Against: against}
		var of [][]float64
		for i := range g.hosts {
			at, d := t.ratioAt(cellAt{env, i}, against, delta)
			row.Hosts, of = append(row.Hosts, at), append(of, d)
		}
		if slices.ContainsFunc(row.Hosts, func(a AtHost) bool { return a.Method != "itself" && a.Missing == "" }) {
			out.Rows, logs = append(out.Rows, row), append(logs, of)
		}
	}
	judge(out.Rows, logs)
	for i := range out.Rows {
		out.Rows[i].Pooled = pooled(out.Rows[i].Hosts, logs[i])
	}
	out.Spread = g.spread(t)
	return out
}

func (g *Gathering) baseline(env string) string {
	for _, e := range g.envs {
		if e.ID == env {
			return e.Baseline
		}
	}
	return ""
}

const notThere = "this host has no such environment"

func (t *gatheredTable) timeOf(at cellAt) Time {
	c := t.cells[at]
	if c == nil {
		return Time{Missing: notThere}
	}
	values := stats.Sorted(stats.Known(c.medians))
	if len(values) == 0 {
		return Time{Missing: c.missing}
	}
	i, ok := stats.MedianInterval(values, stats.Level)
	return Time{Median: sample.NewEstimate(stats.Median(values), i, ok)}
}

// ratioAt compares an environment with what it is held against, on one host.
func (t *gatheredTable) ratioAt(at cellAt, against string, delta float64) (AtHost, []float64) {
	missing := func(why string) (AtHost, []float64) {
		return AtHost{Comparison: analyze.Comparison{Missing: why}}, nil
	}
	c := t.cells[at]
	if c == nil {
		return missing(notThere)
	}
	base, ok := c.bases[against]
	if !ok {
		base = against
	}
	b := t.cells[cellAt{base, at.host}]
	switch {
	case base == at.env:
		return AtHost{Comparison: analyze.Comparison{Method: "itself", Estimate: sample.Estimate{Value: 1}, Verdict: analyze.Equal}}, nil
	case b == nil:
		return missing("this host has no " + base)
	case len(stats.Known(c.medians)) == 0 && c.missing != "":
		return missing(c.missing)
	}
	n := max(len(c.medians), len(b.medians))
	q, d := analyze.Compare(filled(c.medians, n), filled(b.medians, n), delta)
	return AtHost{Comparison: q}, d
}

// group is what a host says of a ratio, by ranks where it has the blocks for them.
func group(d []float64) (stats.Group, bool) {
	switch {
	case len(d) >= sample.MinRank:
		return stats.RankGroup(d)
	case len(d) >= sample.MinT:
		return stats.MeanGroup(d)
	}
	return stats.Group{}, false
}

// pooled summarises a row; nil below five hosts.
func pooled(hosts []AtHost, logs [][]float64) *Pooled {
	var groups []stats.Group
	var values []float64
	for i := range hosts {
		if hosts[i].Missing != "" || hosts[i].Method == "itself" {
			continue
		}
		values = append(values, math.Log(hosts[i].Value))
		if x, ok := group(logs[i]); ok {
			groups = append(groups, x)
		}
	}
	if len(values) < stats.MinPool {
		return nil
	}
	if len(groups) < len(values) { // without blocks the hosts are all that there is
		return byHosts(values)
	}
	p, ok := stats.Pool(groups, stats.Level)
	if !ok {
		return nil
	}
	out := &Pooled{Ratio: *factor(p.Center, p.Interval), I2: p.I2, Hosts: len(groups), Method: RandomEffects,
		Spread: *sample.NewEstimate(math.Expm1(p.Tau), stats.Interval{Lo: math.Expm1(p.TauInterval.Lo), Hi: math.Expm1(p.TauInterval.Hi)}, p.Spreads)}
	if p.Predicts {
		out.Next = factor(p.Center, p.Predicted)
	}
	return out
}

// byHosts is Student's summary of the hosts' values, which have no intervals.
func byHosts(values []float64) *Pooled {
	mean, i, _ := stats.TInterval(values, stats.Level)
	_, se, _ := stats.TMoments(values)
	return &Pooled{Ratio: *factor(mean, i), Spread: sample.Estimate{Value: math.Expm1(se * math.Sqrt(float64(len(values))))},
		Hosts: len(values), Method: HostsAlone}
}

// factor is a logarithm with its interval as a ratio.
func factor(center float64, i stats.Interval) *sample.Estimate {
	return sample.NewEstimate(math.Exp(center), stats.Interval{Lo: math.Exp(i.Lo), Hi: math.Exp(i.Hi)}, !math.IsInf(math.Exp(i.Hi), 0))
}
