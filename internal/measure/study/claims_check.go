package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	papers "plimsoll/internal/common/published"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// claims checks claims against the catalogue and against what is published.
func (c *checker) claims(list []claim, study string) []record.Claim {
	var out []record.Claim
	seen := map[string]yamlfile.Pos{}
	for i := range list {
		d := &list[i]
		if before, ok := seen[d.ID.Text]; ok && d.ID.At.Given() {
			c.Add(d.ID.At, fmt.Sprintf("claim %s occurs twice (first in line %d)", d.ID.Text, before.Line), "each id once")
		}
		seen[d.ID.Text] = d.ID.At
		out = append(out, c.claim(d, study))
	}
	return out
}

func (c *checker) claim(d *claim, study string) record.Claim {
	out := record.Claim{ID: d.ID.Text, Says: d.Says.Text, Why: d.Why.Text, Needs: d.Needs.Text, Features: d.Features.Text}
	if len(d.Tests) == 0 && !d.Features.At.Given() && !d.Needs.At.Given() {
		c.Add(d.at, fmt.Sprintf("claim %s has nothing that could be tested", d.ID.Text), "tests, features, or needs: with the reason why nothing is tested")
	}
	if len(d.Answers) > 0 && !d.Why.At.Given() {
		c.Add(d.Answers[0].at, fmt.Sprintf("claim %s has answers and no question", d.ID.Text), "why: …")
	}
	if d.Features.At.Given() {
		var groups []string
		for _, f := range papers.Features() {
			if !slices.Contains(groups, f.Group) {
				groups = append(groups, f.Group)
			}
		}
		c.known(d.Features.Word, "group of features", groups)
	}
	for i := range d.Tests {
		out.Tests = append(out.Tests, c.claimTest(&d.Tests[i]))
	}
	for i := range d.Answers {
		a := &d.Answers[i]
		out.Answers = append(out.Answers, record.ClaimAnswer{Test: c.claimTest(&a.claimTest), Supported: a.Supported.Text, Contradicted: a.Contradicted.Text, Command: c.partCommand(a.Part.List)})
	}
	source, _, _ := strings.Cut(d.ID.Text, "/")
	if _, ok := papers.SourceOf(source); !ok {
		source = study
	}
	for i := range d.Published {
		out.Published = append(out.Published, c.publishedValue(&d.Published[i], source))
	}
	return out
}

func (c *checker) claimTest(d *claimTest) record.ClaimTest {
	t := record.ClaimTest{Of: c.selector(d.Of), To: c.selector(d.To.envs), Vary: d.Vary.Text, Baseline: d.To.baseline.Text, Metric: d.Metric.Text, ToMetric: d.ToMetric.Text}
	c.sides(d)
	c.known(d.To.baseline, "baseline", c.cat.baselines())
	for _, w := range append(slices.Clone(d.Same.List), d.Vary.Word) {
		c.known(w, "factor", c.claimFactors())
	}
	t.Same = wordsOf(d.Same.List)
	var infos, toInfos []*WorkloadInfo
	t.Workload, infos = c.claimWork(&d.Workload)
	toInfos = infos
	if d.ToWorkload.at.Given() {
		var to record.WorkloadChoice
		to, toInfos = c.claimWork(&d.ToWorkload)
		t.ToWorkload = &to
	}
	m := c.claimMetric(d.Metric, infos)
	toMetric := d.ToMetric
	if !toMetric.At.Given() && d.ToWorkload.at.Given() {
		toMetric = d.Metric
	}
	if to := c.claimMetric(toMetric, toInfos); m != nil && to != nil && m.Unit != to.Unit {
		c.Add(toMetric.At, fmt.Sprintf("to-metric %s is in %s, and %s is in %s", to.ID, to.Unit, m.ID, m.Unit), "two metrics of one unit: their ratio has none")
	}
	if d.Ratio.at.Given() {
		t.Ratio = &d.Ratio.r
	}
	if d.Value.at.Given() {
		t.Value = &d.Value.r
		c.valueUnit(d, m)
	}
	return t
}

// sides demands one thing to compare, and one range.
func (c *checker) sides(d *claimTest) {
	other := d.To.at.Given() || d.Vary.At.Given() || d.ToWorkload.at.Given() || d.ToMetric.At.Given()
	switch {
	case c.Any(): // a key that was bad may be the one that is missing here
	case d.Ratio.at.Given() && d.Value.at.Given():
		c.Add(d.Value.at, "a test has both ratio and value", "one of them")
	case !d.Ratio.at.Given() && !d.Value.at.Given():
		c.Add(d.at, "a test has neither ratio nor value", `ratio: "< 1", or value: "< 1ms"`)
	case d.Ratio.at.Given() && !other:
		c.Add(d.at, "a ratio of one thing only", "to, vary, to-workload or to-metric: what it is compared with")
	case d.Ratio.at.Given() && d.Metric.Text == record.Failures.ID:
		c.Add(d.Ratio.at, "a ratio of two shares of failures, which are 0 as a rule", `value: "<= 1%"`)
	case d.Value.at.Given() && other:
		c.Add(d.Value.at, "value is of one environment, and the test names another side", "ratio, or no to, vary, to-workload and to-metric")
	case d.Vary.At.Given() && (d.To.at.Given() || d.ToWorkload.at.Given() || d.ToMetric.At.Given()):
		c.Add(d.Vary.At, "vary compares the environments of one side", "no to, to-workload and to-metric next to it")
	}
}

// valueUnit holds a bound's unit against its metric's.
func (c *checker) valueUnit(d *claimTest, m *record.Metric) {
	if m == nil {
		return
	}
	if unit := d.Value.r.Unit; unit != m.Unit && (unit != "" || m.Unit == "ns" || m.Unit == "bytes" || m.Unit == percentOfWhole) {
		c.Add(d.Value.at, fmt.Sprintf("value is %s, and the metric %s is in %s", yamlfile.Quote(d.Value.r.Text), m.ID, m.Unit), "a bound in a unit of the metric's kind")
	}
}

func (c *checker) claimFactors() []string { return append([]string{whenEngine}, c.cat.Factors...) }

// selector checks levels by factor or engine.
func (c *checker) selector(axes yamlfile.Axes) map[string][]string {
	if axes == nil {
		return nil
	}
	var names []string
	for _, a := range axes {
		if a.Key.Text != whenEngine {
			continue
		}
		for _, l := range a.Levels.List {
			c.known(l, "engine", c.cat.engineNames())
			names = append(names, l.Text)
		}
	}
	out := map[string][]string{}
	for _, a := range axes {
		if a.Key.Text != whenEngine && c.known(a.Key, "factor", c.claimFactors()) {
			c.factor(a, names)
		}
		out[a.Key.Text] = axisOf(a).Levels
	}
	return out
}

// claimWork checks a choice of workloads, each a name or an id, which begins
// with the name.
func (c *checker) claimWork(d *claimWork) (record.WorkloadChoice, []*WorkloadInfo) {
	var out record.WorkloadChoice
	var infos []*WorkloadInfo
	for _, w := range d.names {
		out.Names = append(out.Names, w.Text)
		name, _, _ := strings.Cut(w.Text, "/")
		info := c.cat.workload(name)
		if info == nil {
			c.Unknown(w.At, "workload", w.Text, c.cat.workloadNames())
			continue
		}
		infos = append(infos, info)
	}
	out.Params = levelsBy(d.params)
	for _, a := range d.params {
		for _, info := range infos {
			if _, ok := info.Parameters[a.Key.Text]; !ok {
				c.Unknown(a.Key.At, "parameter of "+info.Name, a.Key.Text, slices.Sorted(maps.Keys(info.Parameters)))
				continue
			}
			for _, l := range a.Levels.List {
				if !info.takes(a.Key.Text, l.Text) {
					e := c.Add(l.At, fmt.Sprintf("unknown %s %s", a.Key.Text, yamlfile.Quote(l.Text)), info.describe(a.Key.Text))
					e.Suggestion = yamlfile.Nearest(l.Text, info.Parameters[a.Key.Text])
				}
			}
		}
	}
	return out, infos
}

// claimMetric finds a metric of any of the workloads.
func (c *checker) claimMetric(name yamlfile.Name, infos []*WorkloadInfo) *record.Metric {
	if !name.At.Given() || len(infos) == 0 {
		return nil
	}
	var known []record.Metric
	for _, i := range infos {
		known = append(known, i.Metrics...)
	}
	known = append(append(append(known, record.LifeCycle...), c.cat.Sampled...), record.Failures)
	ids := []string{}
	for i := range known {
		if known[i].ID == name.Text {
			return &known[i]
		}
		ids = append(ids, known[i].ID)
	}
	c.Unknown(name.At, "metric of "+infos[0].Name, name.Text, ids)
	return nil
}

// publishedValue checks that what is to be shown was published.
func (c *checker) publishedValue(d *publishedValue, source string) record.PublishedValue {
	v := record.PublishedValue{Source: source, Table: d.Table.Text, Engine: d.Engine.Text, Variant: d.Variant.Text, Image: d.Image.Text,
		Workload: d.Workload.Text, Metric: d.Metric.Text, Text: d.Text.Text}
	if d.Source.At.Given() {
		v.Source = d.Source.Text
	}
	if _, ok := papers.SourceOf(v.Source); !ok {
		at := d.at
		if d.Source.At.Given() {
			at = d.Source.At
		}
		var known []string
		for _, s := range papers.Sources() {
			known = append(known, s.Key)
		}
		c.Unknown(at, "published source", v.Source, known)
		return v
	}
	if v.Text == "" && len(papers.Of(v)) == 0 {
		c.Add(d.at, v.Source+" published no such value", "the words of its table, as in internal/common/published/values.csv, or text: …")
	}
	return v
}
