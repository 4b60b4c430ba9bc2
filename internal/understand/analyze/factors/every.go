package factors

import (
	"cmp"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// maxBare bounds the squared cells times the hosts of what is decomposed for a page: it
// is to be there within a second or two.
const maxBare = 1_000_000

// Every gathers each group of workloads that the first run has, over several hosts.
type Every struct {
	opts   Options
	names  []string
	groups []*hostGathering
	lost   []string // why a group can't be decomposed, by its place
}

// EveryOnHosts begins without a run. Options.Workload chooses one group.
func EveryOnHosts(opts Options) *Every { return &Every{opts: opts} }

// Add takes a run of a host; a second run of one adds its blocks. The error is that of
// the first group that could not take it: of such a one nothing is said.
func (e *Every) Add(label string, r *analyze.Result) (err error) {
	if e.groups == nil {
		e.names = []string{e.opts.Workload}
		if e.opts.Workload == "" {
			e.names = Groups(r)
		}
		for _, n := range e.names {
			o := e.opts
			o.Workload = n
			e.groups = append(e.groups, OnHosts(o))
		}
		e.lost = make([]string, len(e.groups))
	}
	for i, g := range e.groups {
		if e.lost[i] != "" {
			continue
		}
		if gerr := g.Add(label, r); gerr != nil {
			e.lost[i] = "on " + label + ": " + gerr.Error()
			err = cmp.Or(err, gerr)
		}
	}
	return err
}

// Result is what the hosts say together, in the order of the first run's workloads.
func (e *Every) Result() []*OverHosts {
	out := []*OverHosts{}
	for i, g := range e.groups {
		if e.lost[i] == "" {
			out = append(out, g.result())
			continue
		}
		f := &OverHosts{Workload: e.names[i], Missing: e.lost[i], Bare: e.opts.Bare, Hosts: g.labels, Shares: []HostShare{}}
		if g.first != nil {
			f.Metric = g.first.Metric
		} else {
			f.Metric = record.Metric{Title: "the metric"}
		}
		out = append(out, f)
	}
	return out
}
