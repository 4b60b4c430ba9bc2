package papers

import (
	"maps"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// failures sets the share of failed trials beside a published one. Of several
// images the first that ran is taken, as for any other row.
func (p *pairing) failures(c *analyze.PaperCell, engine, image *record.PaperColumn, row *record.PaperRow) {
	choices := []map[string][]string{engine.Levels}
	if image != nil {
		choices = nil
		for _, one := range each(image.Levels) {
			m := maps.Clone(engine.Levels)
			maps.Copy(m, one)
			choices = append(choices, m)
		}
	}
	for _, want := range choices {
		if p.failuresOf(c, want, row) {
			c.Missing = ""
			return
		}
	}
	if c.Missing != "" {
		return
	}
	c.Missing = analyze.NotAsked
	for _, want := range choices {
		for _, x := range p.run.Excluded {
			if x.Workload == "" && fits(x.Engine, x.Levels, want) {
				c.Missing = x.Reason
			}
		}
	}
}

func (p *pairing) failuresOf(c *analyze.PaperCell, want map[string][]string, row *record.PaperRow) bool {
	for i := range p.res.Workloads {
		w := &p.res.Workloads[i]
		if w.Name != row.Workload || !hasParams(w.Params, row.Params) {
			continue
		}
		for k := range w.Counts {
			n := &w.Counts[k]
			e := p.res.Environment(n.Env)
			if e == nil || !fits(e.Engine, e.Levels, want) {
				continue
			}
			if n.Trials == 0 || n.Rate == nil {
				c.Missing = n.Missing
				continue
			}
			c.Env, c.Workload, c.Metric, c.N = n.Env, w.ID, record.Failures.ID, n.Trials
			c.Here = multiplied(n.Rate, 100)
			return true
		}
	}
	return false
}
