package hosts

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Published sets the published values of a study on several hosts beside each other.
// They have no blocks: what ran together is not known, so that a host is one value.
func Published(source string) (*Hosts, error) {
	values := published.Raw(source)
	if len(values) == 0 {
		return nil, &analyze.ChoiceError{What: "study with published values of several hosts", Word: source, Known: published.RawSources()}
	}
	h := &Hosts{Schema: schema, Study: source + ", as published", Source: source, Delta: 0.01, Hosts: []Host{}, Tables: []Table{}, Remark: []record.Remark{}}
	at := map[string]int{}
	for _, v := range values {
		if _, known := at[v.Host]; !known {
			at[v.Host] = len(h.Hosts)
			h.Hosts = append(h.Hosts, Host{Label: v.Host, Runs: []Run{}})
		}
	}
	var tables []*publishedTable
	for _, v := range values {
		i := slices.IndexFunc(tables, func(t *publishedTable) bool { return t.id == v.Workload })
		if i < 0 {
			i = len(tables)
			tables = append(tables, &publishedTable{id: v.Workload, unit: v.Unit, better: v.Better, cells: map[cellAt][]float64{}})
		}
		t := tables[i]
		env := v.Image + " " + v.Metric
		t.envs = analyze.Also(t.envs, env)
		t.cells[cellAt{env, at[v.Host]}] = append(t.cells[cellAt{env, at[v.Host]}], v.Value)
	}
	for _, t := range tables {
		h.Tables = append(h.Tables, t.table(len(h.Hosts)))
	}
	h.finish()
	return h, nil
}

// publishedTable has all values of a workload.
type publishedTable struct {
	id, unit string
	better   record.Direction
	envs     []string
	cells    map[cellAt][]float64
}

// table holds everything against the first that was published.
func (t *publishedTable) table(hosts int) Table {
	out := Table{Workload: t.id, Metric: record.Metric{ID: t.id, Title: "published value", Unit: t.unit, Better: t.better}, Rows: []Row{}, Times: []Times{}}
	median := func(env string, host int) float64 { return stats.Median(stats.Sorted(t.cells[cellAt{env, host}])) }
	for k, env := range t.envs {
		times, row := Times{Env: env}, Row{Env: env, Against: t.envs[0], Holds: Values}
		var ratios []float64
		for i := range hosts {
			v, base := median(env, i), median(t.envs[0], i)
			a, time := AtHost{}, Time{}
			if time.Median = sample.NewEstimate(v, stats.Interval{}, false); math.IsNaN(v) {
				time = Time{Missing: "nothing was published of this host"}
			}
			if a.Value = v / base; !(a.Value > 0) || math.IsInf(a.Value, 0) {
				a = AtHost{Comparison: analyze.Comparison{Missing: fmt.Sprintf("nothing was published of %s and %s on this host", env, t.envs[0])}}
			} else {
				ratios = append(ratios, math.Log(a.Value))
			}
			times.Hosts, row.Hosts = append(times.Hosts, time), append(row.Hosts, a)
		}
		if out.Times = append(out.Times, times); k == 0 {
			continue
		}
		if len(ratios) >= stats.MinPool {
			row.Pooled = byHosts(ratios)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
