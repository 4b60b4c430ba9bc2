package study

import (
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// standIns says of each claim in what its tests differ from what the paper
// measured: what decides, another program, mechanism or topology, and what is
// only told. The paper is the one that the claim's id begins with. The error is
// an *Errors.
func standIns(claims []record.Claim, cat *Catalogue) error {
	known := map[string]*paperFile{}
	for i := range claims {
		c := &claims[i]
		source, _, _ := strings.Cut(c.ID, "/")
		if _, ok := known[source]; !ok {
			p, err := paper(source, cat)
			if err != nil {
				return err
			}
			known[source] = p
		}
		c.StandIns = touched(known[source].standIns(cat), c.Tests)
		differences := known[source].differences(cat)
		c.Differs = touched(differences, c.Tests)
		if c.Features != "" {
			c.Differs = append(c.Differs, ofEngines(differences)...)
		}
	}
	return nil
}

// touched are those at which any of the tests looks.
func touched(list []record.StandIn, tests []record.ClaimTest) []record.StandIn {
	var out []record.StandIn
	for _, s := range list {
		if slices.ContainsFunc(tests, func(t record.ClaimTest) bool { return touches(&s, &t) }) {
			out = append(out, s)
		}
	}
	return out
}

// ofEngines are those that are about an engine and nothing that it ran: what a cell of a feature
// table may have otherwise.
func ofEngines(list []record.StandIn) []record.StandIn {
	return lists.Filter(list, func(s record.StandIn) bool {
		return s.Aspect == "engine" && s.Of[whenEngine] != nil && len(s.Workload.Names) == 0 && len(s.Metrics) == 0
	})
}

// standIns are the facts of a paper that decide and that differ here.
func (p *paperFile) standIns(cat *Catalogue) []record.StandIn {
	if p == nil {
		return nil
	}
	var out []record.StandIn
	for i := range p.Facts {
		f := &p.Facts[i]
		if slices.Contains(judged, f.Aspect.Text) && !f.own(cat) {
			out = append(out, f.standIn())
		}
	}
	return out
}

// standIn is the fact as a claim carries it.
func (f *paperFact) standIn() record.StandIn {
	return record.StandIn{Aspect: f.Aspect.Text, Paper: f.Paper.Text, Here: f.Here.Text, Why: f.Why.Text, Metrics: wordsOf(f.Metrics.List),
		Workload: record.WorkloadChoice{Names: wordsOf(f.Workload.names), Params: levelsBy(f.Workload.params)}, Of: levelsBy(f.Of)}
}

// own says whether what runs here is the paper's own.
func (f *paperFact) own(cat *Catalogue) bool {
	if f.From.Text != fromCommand {
		return !f.Here.At.Given()
	}
	var list []found
	for _, w := range f.Workload.names {
		if info := cat.workload(w.Text); info != nil {
			list = append(list, found{w.Text, info.Commands})
		}
	}
	return f.same(list)
}

// touches says whether a test looks at anything that stands in.
func touches(s *record.StandIn, t *record.ClaimTest) bool {
	side := func(w *record.WorkloadChoice, metric string) bool {
		return covers(s.Workload, s.Metrics, w, metric)
	}
	to, metric := &t.Workload, t.Metric
	if t.ToWorkload != nil {
		to = t.ToWorkload
	}
	if t.ToMetric != "" {
		metric = t.ToMetric
	}
	if !side(&t.Workload, t.Metric) && !side(to, metric) {
		return false
	}
	engines := s.Of[whenEngine]
	return engines == nil || slices.ContainsFunc(engines, func(e string) bool {
		return slices.Contains(t.Of[whenEngine], e) || slices.Contains(t.To[whenEngine], e)
	})
}

// covers says whether a choice of workloads (none means all) and metrics (none
// means all) has anything in common with what one side of a test looks at.
func covers(of record.WorkloadChoice, metrics []string, w *record.WorkloadChoice, metric string) bool {
	if len(metrics) > 0 && !slices.Contains(metrics, metric) {
		return false
	}
	if len(of.Names) > 0 && !slices.ContainsFunc(w.Names, func(id string) bool {
		name, _, _ := strings.Cut(id, "/")
		return slices.Contains(of.Names, name)
	}) {
		return false
	}
	for p, levels := range of.Params {
		if have := w.Params[p]; have != nil && !slices.ContainsFunc(have, func(l string) bool { return slices.Contains(levels, l) }) {
			return false
		}
	}
	return true
}

// notes says of each row of a published table that has no note by what it is
// measured here, where that is not what the paper had.
func notes(tables []record.PaperTable, cat *Catalogue) error {
	var list []record.StandIn
	for i := range tables {
		if i == 0 || tables[i].Source != tables[i-1].Source { // mostly all are of one paper
			p, err := paper(tables[i].Source, cat)
			if err != nil {
				return err
			}
			list = p.standIns(cat)
		}
		for k := range tables[i].Rows {
			r := &tables[i].Rows[k]
			w := record.WorkloadChoice{Names: []string{r.Workload}, Params: map[string][]string{}}
			for name, level := range r.Params {
				w.Params[name] = []string{level}
			}
			at := slices.IndexFunc(list, func(s record.StandIn) bool { return s.Of == nil && covers(s.Workload, s.Metrics, &w, r.Metric) })
			if r.Note == "" && at >= 0 {
				r.Note = "here " + list[at].Here + "; the paper: " + list[at].Paper
			}
		}
	}
	return nil
}
