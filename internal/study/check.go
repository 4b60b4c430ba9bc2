package study

import (
	"fmt"
	"net/url"
	"slices"
	"sort"
	"time"

	"plimsoll/internal/record"
)

// checker turns a document into a study and finds the words that the
// catalogue does not know.
type checker struct {
	*problems
	cat *Catalogue
}

func check(doc *document, cat *Catalogue, p *problems, top pos) *Study {
	c := &checker{p, cat}
	s := &Study{
		Name: doc.Name.text, Title: doc.Title.text, Description: doc.Description.text,
		Protocol: c.protocol(doc.Protocol), Sort: doc.Sort.text, at: top,
	}
	c.missing(doc, top)
	for _, w := range doc.Workloads {
		s.Workloads = append(s.Workloads, c.workload(w))
	}
	c.twice(doc.Workloads)
	s.Common = c.common(doc.Common)
	s.Baselines = c.baselines(doc)
	for _, e := range doc.Environments {
		s.Environments = append(s.Environments, c.entry(e))
	}
	if len(doc.Environments) > 0 {
		s.at = doc.Environments[0].at
	}
	for _, x := range doc.Exclude {
		s.Exclude = append(s.Exclude, c.exclusion(x))
	}
	if d := doc.Published; d.at.given() {
		c.address(d.Source)
		s.Published = &Published{Source: d.Source.text, Combinations: int(d.Combinations.n), Valid: int(d.Valid.n), Difference: d.Difference.text}
		if d.Valid.n > d.Combinations.n {
			c.add(d.Valid.at, fmt.Sprintf("valid is %d", d.Valid.n), fmt.Sprintf("at most the %d combinations", d.Combinations.n))
		}
	}
	metrics := cat.metrics()
	for _, m := range append(slices.Clip(doc.Metrics), doc.Sort) {
		if m.at.given() && !slices.Contains(metrics, m.text) {
			c.unknown(m.at, "metric", m.text, metrics)
		}
	}
	for _, m := range doc.Metrics {
		s.Metrics = append(s.Metrics, m.text)
	}
	c.size(s)
	return s
}

// missing demands what a study must have once everything is laid together.
// A key that is there and was bad has been reported already.
func (c *checker) missing(doc *document, top pos) {
	if c.any() {
		return
	}
	if len(doc.Workloads) == 0 {
		c.add(top, `the study has no key "workloads"`, "a list, such as [hello]")
	}
	if len(doc.Environments) == 0 {
		c.add(top, `the study has no key "environments"`, "a list, such as [docker, podman]")
	}
}

func (c *checker) protocol(d protocol) record.Protocol {
	p := record.Protocol{
		Blocks: 10, Warmup: 1, PerBlock: 1, Order: "random", Cache: "warm",
		CPUs: 1, MemoryBytes: 1 << 30, TrialLimitNS: int64(30 * time.Second), Delta: 0.01,
	}
	put(&p.Blocks, int(d.Blocks.n), d.Blocks.at.given())
	put(&p.Warmup, int(d.Warmup.n), d.Warmup.at.given())
	put(&p.PerBlock, int(d.PerBlock.n), d.PerBlock.at.given())
	put(&p.PauseNS, d.Pause.ns, d.Pause.at.given())
	put(&p.Seed, uint64(d.Seed.n), d.Seed.at.given())
	put(&p.Order, d.Order.text, d.Order.at.given())
	put(&p.Cache, d.Cache.text, d.Cache.at.given())
	put(&p.TrialLimitNS, d.TrialLimit.ns, d.TrialLimit.at.given())
	put(&p.Delta, d.Delta.fraction, d.Delta.at.given())
	put(&p.CPUs, d.Limits.CPUs.n, d.Limits.CPUs.at.given())
	put(&p.MemoryBytes, d.Limits.Memory.bytes, d.Limits.Memory.at.given())
	if p.PauseNS > int64(time.Hour) {
		c.add(d.Pause.at, fmt.Sprintf("pause is %s", time.Duration(p.PauseNS)), "at most 1h")
	}
	if p.TrialLimitNS < int64(time.Millisecond) || p.TrialLimitNS > int64(24*time.Hour) {
		c.add(d.TrialLimit.at, fmt.Sprintf("trial-limit is %s", time.Duration(p.TrialLimitNS)), "from 1ms to 24h")
	}
	return p
}

func (c *checker) workload(w workload) Workload {
	out := Workload{Name: w.Name.text}
	info := c.cat.workload(w.Name.text)
	if info == nil {
		if w.Name.at.given() {
			c.unknown(w.Name.at, "workload", w.Name.text, c.cat.workloadNames())
		}
		return out
	}
	names := keys(info.Parameters)
	for _, a := range w.Parameters {
		valid, ok := info.Parameters[a.key.text]
		switch {
		case !ok && len(names) == 0:
			c.add(a.key.at, fmt.Sprintf("workload %s has no parameter %s", info.Name, quote(a.key.text)), "none: it has no parameters")
			continue
		case !ok:
			c.unknown(a.key.at, "parameter", a.key.text, names)
			continue
		}
		for _, l := range a.levels.list {
			if !slices.Contains(valid, l.text) {
				c.unknown(l.at, a.key.text, l.text, valid)
			}
		}
		out.Parameters = append(out.Parameters, a.axis())
	}
	return out
}

// twice refuses a workload that is listed twice with overlapping parameters:
// its trials could not be told apart.
func (c *checker) twice(list []workload) {
	seen := map[string]pos{}
	for _, w := range list {
		if before, ok := seen[w.Name.text]; ok && w.Name.at.given() {
			c.add(w.Name.at, fmt.Sprintf("workload %s is listed twice (first in line %d)", w.Name.text, before.line), "each once, with a list of values for each parameter")
			continue
		}
		seen[w.Name.text] = w.Name.at
	}
}

func (c *checker) common(as axes) map[string]string {
	out := map[string]string{}
	for _, a := range as {
		if !c.factor(a, nil) {
			continue
		}
		if n := len(a.levels.list); n > 1 {
			c.add(a.levels.list[1].at, fmt.Sprintf("common %s has %d levels", a.key.text, n), "one: a level that all have in common (levels that vary belong into environments)")
		} else if n == 1 {
			out[a.key.text] = a.levels.list[0].text
		}
	}
	return out
}

// factor checks a factor and its levels. The nearest valid level is looked
// for among those of the given engines first.
func (c *checker) factor(a axis, engines []string) bool {
	if !slices.Contains(c.cat.Factors, a.key.text) {
		c.unknown(a.key.at, "factor", a.key.text, c.cat.Factors)
		return false
	}
	valid := c.cat.levels(a.key.text, engines...)
	good := true
	for _, l := range a.levels.list {
		if !slices.Contains(valid, l.text) && !(a.key.text == imageFactor && isReference(l.text)) {
			c.unknown(l.at, a.key.text, l.text, valid)
			good = false
		}
	}
	return good
}

func (c *checker) baselines(doc *document) []string {
	if doc.Baselines == nil {
		return slices.Clone(c.cat.baselines())
	}
	var out []string
	for _, b := range doc.Baselines {
		if b.at.given() && !slices.Contains(c.cat.baselines(), b.text) {
			c.unknown(b.at, "baseline", b.text, c.cat.baselines())
		}
		out = append(out, b.text)
	}
	return out
}

func (c *checker) entry(e environment) Entry {
	out := Entry{at: e.at}
	for _, w := range e.Engine.list {
		if c.cat.engine(w.text) == nil {
			c.unknown(w.at, "engine", w.text, c.cat.engineNames())
			continue
		}
		out.Engines = append(out.Engines, w.text)
	}
	for _, a := range e.Levels {
		if c.factor(a, out.Engines) {
			out.Factors = append(out.Factors, a.axis())
		}
	}
	for _, w := range e.As.list {
		out.As = append(out.As, w.text)
	}
	return out
}

func (c *checker) exclusion(x exclusion) Rule {
	r := Rule{When: map[string][]string{}, Because: x.Because.text, Source: x.Source.text}
	for _, a := range x.When {
		good := true
		switch a.key.text {
		case whenEngine, whenWorkload:
			valid := c.cat.engineNames()
			if a.key.text == whenWorkload {
				valid = c.cat.workloadNames()
			}
			for _, l := range a.levels.list {
				if !slices.Contains(valid, l.text) {
					c.unknown(l.at, a.key.text, l.text, valid)
					good = false
				}
			}
		default:
			if !slices.Contains(c.cat.Factors, a.key.text) {
				c.unknown(a.key.at, "factor", a.key.text, append([]string{whenEngine, whenWorkload}, c.cat.Factors...))
				continue
			}
			good = c.factor(a, nil)
		}
		if good {
			r.When[a.key.text] = a.axis().Levels
		}
	}
	c.address(x.Source)
	return r
}

// address refuses a source that is none.
func (c *checker) address(t text) {
	if !t.at.given() {
		return
	}
	u, err := url.Parse(t.text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.add(t.at, "source is "+quote(t.text), "an address that begins with https:// or http://")
	}
}

func (a axis) axis() Axis {
	out := Axis{Name: a.key.text}
	for _, l := range a.levels.list {
		out.Levels = append(out.Levels, l.text)
	}
	return out
}

// keys gives the keys of a map in their order.
func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
