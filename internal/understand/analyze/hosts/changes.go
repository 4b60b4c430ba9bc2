package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// Changes are what differs between two runs of each of several hosts. A host is compared
// with itself alone, so that no time of one machine is divided by one of another.
type Changes struct {
	Schema int    `json:"schema"`
	Study  string `json:"study"`
	// Delta is the smallest relative difference that matters.
	Delta float64       `json:"delta"`
	Hosts []ChangedHost `json:"hosts"`
	// Pools says whether there are enough hosts for pooled intervals, WhyNot why not.
	Pools  bool            `json:"pools"`
	WhyNot string          `json:"why_not,omitempty"`
	Rows   []ChangeRow     `json:"rows"`
	Remark []record.Remark `json:"remarks"`
}

// ChangedHost is a machine with its two runs.
type ChangedHost struct {
	Label string `json:"label"`
	Base  Run    `json:"base"`
	New   Run    `json:"new"`
}

// ChangeRow is one metric of one workload in one environment, NEW over BASE, host by host.
type ChangeRow struct {
	Workload string        `json:"workload"`
	Metric   record.Metric `json:"metric"`
	Env      string        `json:"env"`
	// Hosts are in the order of Changes.Hosts.
	Hosts []ChangeAt `json:"hosts"`
	Holds Holds      `json:"holds"`
	// Better to Equal count hosts.
	Better int `json:"better"`
	Worse  int `json:"worse"`
	Equal  int `json:"equal"`
	// Differ tests whether the hosts have one ratio.
	Differ *Differ `json:"differ,omitempty"`
	// Pooled is nil below five hosts that have a value, and Verdict empty then.
	Pooled  *Pooled           `json:"pooled,omitempty"`
	Verdict compare.Direction `json:"verdict,omitempty"`
}

// ChangeAt is a change on one host. Holm is over all rows and hosts.
type ChangeAt struct {
	Base    *sample.Estimate  `json:"base,omitempty"`
	New     *sample.Estimate  `json:"new,omitempty"`
	Ratio   *sample.Estimate  `json:"ratio,omitempty"`
	Blocks  int               `json:"blocks,omitempty"`
	Verdict compare.Direction `json:"verdict,omitempty"`
	P       *float64          `json:"p,omitempty"`
	Holm    *float64          `json:"holm,omitempty"`
	Missing string            `json:"missing,omitempty"`
}

// Comparing takes the two runs of one host after the other.
type Comparing struct {
	o     compare.Options
	all   bool // metrics that a workload does not show too
	out   Changes
	rows  map[rowAt]int
	group [][]stats.Group // by row; a host without a value has none
}

type rowAt struct{ workload, metric, env string }

// NewComparing begins without a host. Metrics that a workload does not show are left
// out, unless the options name a metric.
func NewComparing(o compare.Options) *Comparing {
	named := slices.ContainsFunc(o.Filter, func(f compare.Filter) bool { return f.Key == "metric" })
	return &Comparing{o: o, all: named, rows: map[rowAt]int{}, out: Changes{Schema: schema, Hosts: []ChangedHost{}, Rows: []ChangeRow{}, Remark: []record.Remark{}}}
}

// Add compares the two runs of a host.
func (c *Comparing) Add(h ChangedHost, base, next *analyze.Result) error {
	h.Base.ID, h.Base.Status, h.New.ID, h.New.Status = base.Run.ID, base.Run.Status, next.Run.ID, next.Run.Status
	if a, b := studyOf(&base.Run), studyOf(&next.Run); a != b {
		return fmt.Errorf("%s is of %s and %s of %s", h.Base.Dir, a, h.New.Dir, b)
	}
	if s := studyOf(&base.Run); c.out.Study == "" {
		c.out.Study = s
	} else if c.out.Study != s {
		return fmt.Errorf("%s is of %s, and the runs of other hosts are of %s: only runs of one study at one scale are summarised over hosts", h.Base.Dir, s, c.out.Study)
	}
	x, err := compare.Between(base, next, c.o)
	if err != nil {
		return fmt.Errorf("on %s: %w", h.Label, err)
	}
	c.out.Delta = x.Delta
	c.out.Hosts = append(c.out.Hosts, h)
	at := len(c.out.Hosts) - 1
	for i := range x.Cells {
		ch := &x.Cells[i]
		if w := base.Workload(ch.Workload); !c.all && (w == nil || !slices.Contains(w.Show, ch.Metric.ID)) {
			continue
		}
		c.take(ch, at)
	}
	for i := range c.out.Rows {
		c.fill(i, at+1)
	}
	for _, f := range x.Facts {
		if f.Bars {
			c.out.Remark = append(c.out.Remark, record.Remark{Code: "host-changed", Level: "warn",
				Text: fmt.Sprintf("on %s the two runs differ in more than what is compared: %s is %s in BASE and %s in NEW", h.Label, f.Key, cmp.Or(f.Base, "not set"), cmp.Or(f.New, "not set"))})
		}
	}
	return nil
}

// fill gives a row n hosts.
func (c *Comparing) fill(row, n int) {
	for len(c.out.Rows[row].Hosts) < n {
		c.out.Rows[row].Hosts = append(c.out.Rows[row].Hosts, ChangeAt{Missing: notThere})
		c.group[row] = append(c.group[row], stats.Group{Nu: math.NaN()})
	}
}

func (c *Comparing) take(ch *compare.Change, at int) {
	key := rowAt{ch.Workload, ch.Metric.ID, ch.Env}
	row, ok := c.rows[key]
	if !ok {
		row = len(c.out.Rows)
		c.rows[key] = row
		c.out.Rows = append(c.out.Rows, ChangeRow{Workload: ch.Workload, Metric: ch.Metric, Env: ch.Name()})
		c.group = append(c.group, nil)
	}
	c.fill(row, at+1)
	c.out.Rows[row].Hosts[at] = ChangeAt{Base: ch.Base, New: ch.New, Ratio: ch.Ratio, Blocks: min(ch.BaseBlocks, ch.NewBlocks), Verdict: ch.Verdict, P: ch.P, Missing: ch.Missing}
	if ch.Sample.Blocks() < sample.MinT {
		return
	}
	center, se, nu := ch.Sample.Moments()
	if r := ch.Sample.Runs; r != nil && math.Sqrt2*r.SD > se {
		se, nu = math.Sqrt2*r.SD, r.Nu
	}
	c.group[row][at] = stats.Group{Estimate: center, Variance: se * se, Nu: nu}
}

// Changes is what the hosts say together.
func (c *Comparing) Changes() (*Changes, error) {
	out := &c.out
	if len(out.Hosts) == 0 {
		return nil, errors.New("no host has a run on both sides")
	}
	n := len(out.Hosts)
	if out.Pools = n >= stats.MinPool; !out.Pools {
		out.WhyNot = whyNotPooled(n)
	}
	c.correct()
	differs := make([]float64, len(out.Rows))
	for i := range out.Rows {
		out.Rows[i].Differ = c.differ(i)
		differs[i] = math.NaN()
		if d := out.Rows[i].Differ; d != nil {
			differs[i] = d.P
		}
	}
	differs = stats.Holm(differs)
	pooled := 0
	for i := range out.Rows {
		r := &out.Rows[i]
		if r.Differ != nil {
			r.Differ.Holm, r.Differ.Found = differs[i], differs[i] < sample.Alpha
		}
		if len(c.known(i)) >= stats.MinPool {
			pooled++
		}
		r.count()
	}
	for i := range out.Rows {
		c.pool(i, pooled)
	}
	return out, nil
}
