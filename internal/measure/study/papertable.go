package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// paperTable checks a published table's counterpart. Where the paper is one
// that Plimsoll has the values of, its words must be the paper's.
func (c *checker) paperTable(d paperTable) record.PaperTable {
	out := record.PaperTable{Source: d.Source.Text, Table: d.Table.Text, Title: d.Title.Text, Baseline: d.Baseline.Text, Statistic: record.Statistic(d.Stat.Text)}
	engines, images, rows := c.citation(d)
	for _, e := range d.Engines {
		c.known(e.Key, "published engine", engines)
		out.Engines = append(out.Engines, record.PaperColumn{Published: e.Key.Text, Levels: c.levelsOf(e.Value)})
	}
	for _, e := range d.Images {
		c.known(e.Key, "published image", images)
		out.Images = append(out.Images, record.PaperColumn{Published: e.Key.Text, Levels: c.levelsOf(e.Value)})
	}
	c.known(d.Baseline.Word, "published engine", engines)
	for _, r := range d.Rows {
		c.known(r.Key, "published row", rows)
		row := c.paperRow(r.Key, r.Value)
		for _, e := range r.Value.Images {
			c.known(e.Key, "published image", images)
			row.Images = append(row.Images, record.PaperColumn{Published: e.Key.Text, Levels: c.levelsOf(e.Value)})
		}
		out.Rows = append(out.Rows, row)
	}
	for _, r := range d.Ratios {
		c.paperPattern(r.Of, engines)
		c.paperPattern(r.To, engines)
		if strings.Count(r.Of.Text, "*") != strings.Count(r.To.Text, "*") {
			c.Add(r.To.At, yamlfile.Quote(r.To.Text)+" has another number of stars than "+yamlfile.Quote(r.Of.Text), "the same number: each stands for the same on both sides")
		}
		out.Ratios = append(out.Ratios, record.PaperPair{Of: r.Of.Text, To: r.To.Text})
	}
	for _, x := range d.Without {
		if out.Without == nil {
			out.Without = map[string]string{}
		}
		c.known(x.Key, "published engine, image or row", slices.Concat(engines, images, rows))
		out.Without[x.Key.Text] = x.Value.Text
	}
	return out
}

// citation lists the words of a published table, each once.
func (c *checker) citation(d paperTable) (engines, images, rows []string) {
	if !d.Table.At.Given() {
		return nil, nil, nil
	}
	of := published.Find(published.Query{Source: d.Source.Text})
	if len(of) == 0 {
		at := d.Source.At
		if !at.Given() {
			at = d.at
		}
		names := map[string]bool{}
		for _, v := range published.Values() {
			names[v.Source] = true
		}
		c.Unknown(at, "source", d.Source.Text, slices.Sorted(maps.Keys(names)))
		return nil, nil, nil
	}
	add := func(list *[]string, s string) {
		if !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	var tables []string
	for _, v := range of {
		add(&tables, v.Table)
		if v.Table == d.Table.Text {
			add(&engines, v.Name())
			add(&images, v.Image)
			add(&rows, v.Row())
		}
	}
	if engines == nil {
		c.Unknown(d.Table.At, "table", d.Table.Text, tables)
	}
	return engines, images, rows
}

// paperPattern asks that a published engine is meant by a pattern.
func (c *checker) paperPattern(w yamlfile.Text, engines []string) {
	if engines == nil || !w.At.Given() {
		return
	}
	if !slices.ContainsFunc(engines, func(e string) bool { _, ok := record.MatchEngine(w.Text, e); return ok }) {
		c.Unknown(w.At, "published engine", w.Text, engines)
	}
}

// levelsOf checks levels by factor, or by engine.
func (c *checker) levelsOf(as yamlfile.Axes) map[string][]string {
	out := map[string][]string{}
	for _, a := range as {
		switch {
		case a.Key.Text == whenEngine:
			for _, l := range a.Levels.List {
				c.known(l, whenEngine, c.cat.engineNames())
			}
		case !c.known(a.Key, "factor", c.claimFactors()):
			continue
		default:
			c.factor(a, nil)
		}
		out[a.Key.Text] = axisOf(a).Levels
	}
	return out
}

func (c *checker) paperRow(key yamlfile.Word, d paperRow) record.PaperRow {
	out := record.PaperRow{Published: key.Text, Metric: d.Metric.Text, As: d.As.Text, Note: d.Note.Text}
	w := c.workload(d.Workload)
	out.Workload = w.Name
	for _, a := range w.Parameters {
		if len(a.Levels) != 1 {
			c.Add(key.At, fmt.Sprintf("%s has %d levels of %s", key.Text, len(a.Levels), a.Name), "one: a published number stands next to one of this run")
			continue
		}
		if out.Params == nil {
			out.Params = map[string]string{}
		}
		out.Params[a.Name] = a.Levels[0]
	}
	info := c.cat.workload(w.Name)
	if info == nil || !d.Metric.At.Given() {
		return out
	}
	var metrics []string
	for _, m := range slices.Concat(record.LifeCycle, info.Metrics, c.cat.Sampled, []record.Metric{record.Failures}) {
		metrics = append(metrics, m.ID)
	}
	c.known(d.Metric.Word, "metric of "+w.Name, metrics)
	return out
}
