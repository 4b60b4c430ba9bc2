package factors

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// OverHosts says what matters most on several hosts: each host's shares by its own
// blocks, their mean over hosts, and which part of what a factor does depends on the
// host. It is over the cells that all hosts have.
type OverHosts struct {
	Workload     string        `json:"workload"`
	Workloads    []string      `json:"workloads"`
	Metric       record.Metric `json:"metric"`
	Environments []string      `json:"environments"`
	Cells        int           `json:"cells"`
	Hosts        []string      `json:"hosts"`
	Blocks       []int         `json:"blocks"` // by host
	// Pools says whether there are enough hosts for an interval over them.
	Pools   bool              `json:"pools"`
	WhyNot  string            `json:"why_not,omitempty"`
	Factors []Factor          `json:"factors"`
	Fixed   map[string]string `json:"fixed,omitempty"`
	LeftOut []LeftOut         `json:"left_out,omitempty"`
	Shares  []HostShare       `json:"shares"`
	Parts   *Parts            `json:"parts,omitempty"`
	Missing string            `json:"missing,omitempty"`
	// Bare: hosts' own shares have no interval.
	Bare bool `json:"-"`
}

// HostShare is the share of a factor, or of what two do together, on several hosts.
type HostShare struct {
	Factor string `json:"factor"`
	With   string `json:"with,omitempty"`
	// Hosts are each host's own share, in the order of OverHosts.Hosts; nil where it
	// can't be told from others.
	Hosts []*sample.Estimate `json:"hosts"`
	// Mean is that over hosts, with Student's interval by hosts; nil below five hosts.
	Mean *sample.Estimate `json:"mean,omitempty"`
	// ByHost is which part of the squares of its effect differs from host to host; P
	// tests that none does, Holm corrects for all terms.
	ByHost *float64 `json:"by_host,omitempty"`
	P      *float64 `json:"p,omitempty"`
	Holm   *float64 `json:"holm,omitempty"`
}

// Parts are the components of the variance of the logarithm over all hosts, as shares
// that add up to 1: between cells, between hosts (how fast machines are), of the two
// together, and between the blocks of one host. They have no interval.
type Parts struct {
	Cells  float64 `json:"cells"`
	Hosts  float64 `json:"hosts"`
	Both   float64 `json:"both"`
	Blocks float64 `json:"blocks"`
}

// hostGathering takes the runs of several hosts one by one, and keeps only the
// logarithms of block medians.
type hostGathering struct {
	opts   Options
	first  *OverHosts
	seed   uint64
	labels []string
	hosts  []*matrix
}

// OnHosts begins without a run.
func OnHosts(opts Options) *hostGathering { return &hostGathering{opts: opts} }

// Add takes a run of a host; a second run of one adds its blocks.
func (g *hostGathering) Add(label string, r *analyze.Result) error {
	works, err := groupOf(r, g.opts.Workload)
	if err != nil {
		return err
	}
	first := works[0].TableOf(g.opts.Metric, "")
	if first == nil {
		return fmt.Errorf("workload %s has no metric %q: it has %s", works[0].ID, g.opts.Metric, strings.Join(metrics(works[0]), ", "))
	}
	if g.first == nil {
		g.first = &OverHosts{Workload: works[0].Group(), Metric: first.Metric, Workloads: []string{}, Environments: []string{}, Hosts: []string{}, Blocks: []int{}, Factors: []Factor{}, Shares: []HostShare{}, Bare: g.opts.Bare}
		g.seed = r.Run.Protocol.Seed
	}
	m, err := newMatrix(r, works, g.first.Metric.ID, g.opts.Engines)
	if err != nil {
		return err
	}
	for _, l := range m.left {
		l.Reason = "on " + label + ": " + l.Reason
		g.first.LeftOut = append(g.first.LeftOut, l)
	}
	at := slices.Index(g.labels, label)
	if at < 0 {
		g.labels, g.hosts = append(g.labels, label), append(g.hosts, m)
		return nil
	}
	old := g.hosts[at]
	old.cells = slices.DeleteFunc(old.cells, func(c matrixCell) bool { return m.find(c) < 0 })
	n := 0
	for _, c := range old.cells {
		n = max(n, len(c.logs))
	}
	for i := range old.cells {
		c := &old.cells[i]
		for len(c.logs) < n { // so that blocks of the second run stay beside each other
			c.logs = append(c.logs, math.NaN())
		}
		c.logs = append(c.logs, m.cells[m.find(*c)].logs...)
	}
	return nil
}

func (m *matrix) find(c matrixCell) int {
	return slices.IndexFunc(m.cells, func(x matrixCell) bool { return x.env.ID == c.env.ID && x.work.ID == c.work.ID })
}

// common leaves the cells that all hosts have, in one order.
func (g *hostGathering) common() {
	for i, m := range g.hosts {
		m.complete()
		for _, l := range m.left {
			if strings.HasPrefix(l.Reason, "it has no value in ") {
				l.Reason = "on " + g.labels[i] + ": " + l.Reason
				g.first.LeftOut = append(g.first.LeftOut, l)
			}
		}
	}
	all := lists.Filter(g.hosts[0].cells, func(c matrixCell) bool {
		return !slices.ContainsFunc(g.hosts, func(m *matrix) bool { return m.find(c) < 0 })
	})
	for i, m := range g.hosts {
		kept := lists.Map(all, func(c matrixCell) matrixCell { return m.cells[m.find(c)] })
		for _, c := range m.cells {
			if !slices.ContainsFunc(all, func(x matrixCell) bool { return x.env.ID == c.env.ID && x.work.ID == c.work.ID }) {
				g.first.LeftOut = append(g.first.LeftOut, LeftOut{Env: c.env.ID, Workload: c.work.ID, Reason: "on " + g.labels[i] + ": not all hosts have it"})
			}
		}
		m.cells = kept
	}
}

// result is what the hosts say together.
func (g *hostGathering) result() *OverHosts {
	f := g.first
	g.common()
	cells := g.hosts[0].cells
	for _, c := range cells {
		f.Environments, f.Workloads = append(f.Environments, c.env.ID), append(f.Workloads, c.work.ID)
	}
	f.Environments, f.Workloads, f.Cells, f.Hosts = analyze.Distinct(f.Environments), analyze.Distinct(f.Workloads), len(cells), g.labels
	if f.Pools = len(g.labels) >= stats.MinPool; !f.Pools {
		f.WhyNot = fmt.Sprintf("%d hosts say too little of the spread between hosts for an interval that is about machines in general: it takes %d", len(g.labels), stats.MinPool)
	}
	var levels [][]int
	f.Factors, f.Fixed, levels = g.hosts[0].factors()
	least := math.MaxInt
	for _, m := range g.hosts {
		f.Blocks, least = append(f.Blocks, len(m.blocks)), min(least, len(m.blocks))
	}
	switch {
	case len(g.hosts) < 2:
		f.Missing = "there is one host only"
	case len(cells) < 2:
		f.Missing = "fewer than two environments have values on all hosts"
	case len(f.Factors) == 0:
		f.Missing = "no factor varies between the environments"
	case least < 2:
		f.Missing = "a host has fewer than two blocks with a value in every cell"
	case len(cells) > maxCells:
		f.Missing = fmt.Sprintf("%d cells are more than the %d that can be decomposed: choose engines or a workload", len(cells), maxCells)
	case g.opts.Bare && len(cells)*len(cells)*len(g.hosts) > maxBare:
		f.Missing = fmt.Sprintf("%d cells on %d hosts take too long for a page: plimsoll factors has them", len(cells), len(g.hosts))
	default:
		g.decompose(f, levels)
	}
	return f
}
