package study

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// checker turns a document into a study and finds the words that the
// catalogue does not know.
type checker struct {
	*yamlfile.Problems
	cat *Catalogue
	src Source
	doc *document      // nil for claims in a file by themselves
	own []WorkloadInfo // from files
}

// check checks a study at its full size, then each of its scales: what is
// wrong with the study itself is said once.
func check(doc *document, src Source, cat *Catalogue, p *yamlfile.Problems, top yamlfile.Pos) *Study {
	for _, d := range doc.Parts {
		enoughBlocks(p, d.Name.Text, d.Blocks, doc.Protocol)
	}
	s := checkOne(doc, src, cat, p, top)
	if p.Any() {
		return s
	}
	for _, k := range doc.Scales {
		if over := doc.at(k, p); over != nil {
			t := checkOne(over, src, cat, p, top)
			t.Scale = k.Key.Text
			s.Scales = append(s.Scales, t)
		}
	}
	return s
}

func checkOne(doc *document, src Source, cat *Catalogue, p *yamlfile.Problems, top yamlfile.Pos) *Study {
	c := &checker{Problems: p, cat: cat, src: src, doc: doc}
	s := &Study{
		Name: doc.Name.Text, Title: doc.Title.Text, Description: doc.Description.Text,
		Protocol: c.protocol(doc.Protocol), MaxBlocks: int(doc.Protocol.MaxBlocks.N), Sort: doc.Sort.Text, Limits: doc.Protocol.Limits.levels(), at: top,
	}
	c.missing(doc, top)
	for _, d := range doc.parts() {
		s.Parts = append(s.Parts, c.part(d))
		if s.at == top && len(d.Environments) > 0 {
			s.at = d.Environments[0].at
		}
	}
	s.own = c.own
	s.Common = c.common(doc.Common)
	s.Baselines = c.baselines(doc)
	for _, x := range doc.Exclude {
		s.Exclude = append(s.Exclude, c.exclusion(x))
	}
	if d := doc.Published; d.at.Given() {
		c.address(d.Source)
		s.Published = &Published{Source: d.Source.Text, Combinations: int(d.Combinations.N), Valid: int(d.Valid.N), Part: d.Part.Text, Difference: d.Difference.Text}
		if d.Part.At.Given() && !slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Name == d.Part.Text }) {
			c.Unknown(d.Part.At, "part", d.Part.Text, partNames(doc.Parts))
		}
		if d.Valid.N > d.Combinations.N {
			c.Add(d.Valid.At, fmt.Sprintf("valid is %d", d.Valid.N), fmt.Sprintf("at most the %d combinations", d.Combinations.N))
		}
	}
	metrics := c.cat.metrics()
	for _, m := range append(slices.Clip(doc.Metrics), doc.Sort) {
		c.known(m.Word, "metric", metrics)
	}
	for _, m := range doc.Metrics {
		s.Metrics = append(s.Metrics, m.Text)
	}
	for _, t := range doc.Tables {
		s.Tables = append(s.Tables, c.paperTable(t))
	}
	s.Claims = c.claims(doc.Claims.list, s.Name)
	c.size(s)
	return s
}

// missing demands what a study must have once everything is laid together.
// A key that is there and was bad has been reported already.
func (c *checker) missing(doc *document, top yamlfile.Pos) {
	if c.Any() {
		return
	}
	if doc.Parts != nil {
		c.wholeParts(doc)
		return
	}
	if len(doc.Workloads) == 0 {
		c.Add(top, `the study has no key "workloads"`, "a list, such as [hello]")
	}
	if len(doc.Environments) == 0 {
		c.Add(top, `the study has no key "environments"`, "a list, such as [native, others]")
	}
}

func (c *checker) protocol(d protocol) record.Protocol {
	p := record.Protocol{
		Blocks: defaultBlocks, Warmup: 1, PerBlock: 1, Order: "random", Cache: "warm",
		CPUs: 1, MemoryBytes: 1 << 30, TrialLimitNS: int64(30 * time.Second), Delta: 0.01,
	}
	put(&p.Blocks, int(d.Blocks.N), d.Blocks.At.Given())
	put(&p.Until, d.Until.fraction, d.Until.at.Given())
	put(&p.TimeBudgetNS, d.TimeBudget.NS, d.TimeBudget.At.Given())
	put(&p.Warmup, int(d.Warmup.N), d.Warmup.At.Given())
	put(&p.PerBlock, int(d.PerBlock.N), d.PerBlock.At.Given())
	put(&p.PauseNS, d.Pause.NS, d.Pause.At.Given())
	put(&p.Seed, uint64(d.Seed.N), d.Seed.At.Given())
	put(&p.Order, d.Order.Text, d.Order.At.Given())
	put(&p.Cache, d.Cache.Text, d.Cache.At.Given())
	put(&p.TrialLimitNS, d.TrialLimit.NS, d.TrialLimit.At.Given())
	put(&p.Delta, d.Delta.Fraction, d.Delta.At.Given())
	if l := d.Limits.CPUs.List; len(l) > 0 {
		p.CPUs = l[0].N
	}
	if l := d.Limits.Memory.List; len(l) > 0 {
		p.MemoryBytes = l[0].Bytes
	}
	put(&p.SmallSizes, d.Small.On, d.Small.At.Given())
	put(&p.Tuned, d.Tuned.On, d.Tuned.At.Given())
	put(&p.CollectHz, d.Collect.hz, d.Collect.at.Given())
	c.untilClaims(&p, d)
	if p.Until > 0 || p.TimeBudgetNS > 0 && len(p.ClaimLooks) == 0 {
		p.Blocks = Cap(p, int(d.MaxBlocks.N))
	}
	if b := p.TimeBudgetNS; d.TimeBudget.At.Given() && (b < int64(time.Second) || b > int64(MaxTimeBudget)) {
		c.Add(d.TimeBudget.At, fmt.Sprintf("time-budget is %s", time.Duration(b)), "from 1s to 720h")
	}
	if p.PauseNS > int64(time.Hour) {
		c.Add(d.Pause.At, fmt.Sprintf("pause is %s", time.Duration(p.PauseNS)), "at most 1h")
	}
	if p.TrialLimitNS < int64(time.Millisecond) || p.TrialLimitNS > int64(24*time.Hour) {
		c.Add(d.TrialLimit.At, fmt.Sprintf("trial-limit is %s", time.Duration(p.TrialLimitNS)), "from 1ms to 24h")
	}
	return p
}

// untilClaims sets when the claims are looked at.
func (c *checker) untilClaims(p *record.Protocol, d protocol) {
	if !d.Until.claims {
		if d.ClaimTime.At.Given() {
			c.Add(d.ClaimTime.At, "claim-time is of the blocks that until: claims adds", "until: claims, or time-budget for all blocks")
		}
		return
	}
	most := int(d.MaxBlocks.N)
	if most > 0 && most <= p.Blocks {
		c.Add(d.MaxBlocks.At, fmt.Sprintf("max-blocks is %d, and the protocol has %d blocks", most, p.Blocks), "more than the blocks: what lies between is for claims that are not decided")
		return
	}
	p.ClaimLooks = ClaimLooks(p.Blocks, min(most, MostBlocks))
	p.Blocks = p.ClaimLooks[len(p.ClaimLooks)-1]
	put(&p.ClaimTimeNS, d.ClaimTime.NS, d.ClaimTime.At.Given())
	if t := p.ClaimTimeNS; d.ClaimTime.At.Given() && (t < int64(time.Second) || t > int64(MaxTimeBudget)) {
		c.Add(d.ClaimTime.At, fmt.Sprintf("claim-time is %s", time.Duration(t)), "from 1s to 720h")
	}
}

func (c *checker) workload(w workload) Workload {
	info := c.named(w)
	if info == nil {
		return Workload{Name: w.Name.Text}
	}
	out := Workload{Name: info.Name}
	names := slices.Sorted(maps.Keys(info.Parameters))
	for _, a := range w.Parameters {
		valid, ok := info.Parameters[a.Key.Text]
		switch {
		case !ok && len(names) == 0:
			c.Add(a.Key.At, fmt.Sprintf("workload %s has no parameter %s", info.Name, yamlfile.Quote(a.Key.Text)), "none: it has no parameters")
			continue
		case !ok:
			c.Unknown(a.Key.At, "parameter", a.Key.Text, names)
			continue
		}
		for _, l := range a.Levels.List {
			if !info.takes(a.Key.Text, l.Text) {
				e := c.Add(l.At, fmt.Sprintf("unknown %s %s", a.Key.Text, yamlfile.Quote(l.Text)), info.describe(a.Key.Text))
				e.Suggestion = yamlfile.Nearest(l.Text, valid)
			}
		}
		out.Parameters = append(out.Parameters, axisOf(a))
	}
	return out
}

// named finds the workload that an entry names, in the catalogue or in a file;
// nil where there is none, which has been said.
func (c *checker) named(w workload) *WorkloadInfo {
	file := w.File.Word
	if w.Name.file {
		file = w.Name.Word
	}
	switch {
	case w.Name.At.Given() && w.File.At.Given():
		c.Add(w.File.At, "a workload has both name and file", "one of them")
		return nil
	case file.At.Given():
		return c.fromFile(file)
	case !w.Name.At.Given():
		if !w.Name.tried && !w.File.tried {
			c.Add(w.at, "a workload has neither name nor file", "name: … or file: ./….yaml")
		}
		return nil
	}
	info := c.cat.workload(w.Name.Text)
	if info == nil {
		c.Unknown(w.Name.At, "workload", w.Name.Text, c.cat.workloadNames())
	}
	return info
}

// fromFile reads a workload's file. As what a study extends, it must lie in
// the folder of the study that was asked for, or below it.
func (c *checker) fromFile(ref yamlfile.Word) *WorkloadInfo {
	const expected = "a workload's .yaml file in this study's folder"
	src, ok := c.src.beside(ref, c.Problems, "the workload", expected)
	if !ok {
		return nil
	}
	if c.cat.Read == nil {
		c.Add(ref.At, "workloads from files can't be read here", "a workload of the catalogue")
		return nil
	}
	if i := slices.IndexFunc(c.own, func(w WorkloadInfo) bool { return w.path == src.Path }); i >= 0 {
		return c.cat.workload(c.own[i].Name) // another part's
	}
	info, err := c.cat.Read(src.Path, src.Data)
	if err != nil {
		c.Join(err)
		return nil
	}
	if c.cat.workload(info.Name) != nil {
		c.Add(ref.At, fmt.Sprintf("the file's workload is called %s, as another is", info.Name), "a name of its own, in the file and as the file's name")
		return nil
	}
	info.path = src.Path
	c.own = append(c.own, info)
	c.cat = c.cat.with([]WorkloadInfo{info})
	return c.cat.workload(info.Name)
}

// twice refuses a workload that is listed twice with overlapping parameters:
// its trials could not be told apart.
func (c *checker) twice(list []workload) {
	seen := map[string]yamlfile.Pos{}
	for _, w := range list {
		if before, ok := seen[w.Name.Text]; ok && w.Name.At.Given() {
			c.Add(w.Name.At, fmt.Sprintf("workload %s is listed twice (first in line %d)", w.Name.Text, before.Line), "each once, with a list of values for each parameter")
			continue
		}
		seen[w.Name.Text] = w.Name.At
	}
}

func (c *checker) common(as yamlfile.Axes) map[string]string {
	out := map[string]string{}
	for _, a := range as {
		if !c.factor(a, nil) {
			continue
		}
		if n := len(a.Levels.List); n > 1 {
			c.Add(a.Levels.List[1].At, fmt.Sprintf("common %s has %d levels", a.Key.Text, n), "one: a level that all have in common (levels that vary belong into environments)")
		} else if n == 1 {
			out[a.Key.Text] = a.Levels.List[0].Text
		}
	}
	return out
}

// factor checks a factor and its levels. The nearest valid level is looked
// for among those of the given engines first.
func (c *checker) factor(a yamlfile.Axis, engines []string) bool {
	if !c.known(a.Key, "factor", c.cat.Factors) {
		return false
	}
	valid := c.cat.levels(a.Key.Text, engines...)
	good := true
	for _, l := range a.Levels.List {
		if expected := boundFactors[a.Key.Text]; expected != "" {
			if !bound(a.Key.Text, l.Text) {
				c.Add(l.At, fmt.Sprintf("%s %q", a.Key.Text, l.Text), expected)
				good = false
			}
			continue
		}
		if expected := limitLevels[a.Key.Text]; expected != "" {
			if !isLimit(a.Key.Text, l.Text) {
				c.Add(l.At, fmt.Sprintf("unknown %s %s", a.Key.Text, yamlfile.Quote(l.Text)), expected)
				good = false
			}
			continue
		}
		for _, part := range parts(a.Key.Text, l.Text) {
			if !slices.Contains(valid, part) && !(a.Key.Text == imageFactor && isReference(part)) {
				c.Unknown(l.At, a.Key.Text, part, valid)
				good = false
			}
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
		c.known(b.Word, "baseline", c.cat.baselines())
		out = append(out, b.Text)
	}
	return out
}

func (c *checker) entry(e environment) Entry {
	out := Entry{at: e.at}
	for _, w := range e.Engine.List {
		if c.known(w, "engine", c.cat.engineNames()) {
			out.Engines = append(out.Engines, w.Text)
		}
	}
	for _, a := range e.Levels {
		if c.factor(a, out.Engines) {
			out.Factors = append(out.Factors, axisOf(a))
		}
	}
	out.As = wordsOf(e.As.List)
	c.ablation(e, &out)
	return out
}

// ablation checks what is to be taken away.
func (c *checker) ablation(e environment, out *Entry) {
	if !e.Ablate.At.Given() {
		return
	}
	known := []string{AllMechanisms, AllAdditions}
	for _, name := range out.Engines {
		for _, m := range c.cat.engine(name).Mechanisms {
			if !slices.Contains(known, m.Name) {
				known = append(known, m.Name)
			}
		}
	}
	if len(known) == 2 && len(out.Engines) > 0 {
		c.Add(e.Ablate.At, "nothing can be taken away from "+strings.Join(out.Engines, ", "), "an engine that has mechanisms (plimsoll engines NAME lists them)")
	}
	for _, w := range e.Ablate.List {
		c.known(w, "mechanism", known)
		out.Ablate = append(out.Ablate, w.Text)
	}
	for _, a := range e.Levels {
		if len(a.Levels.List) > 1 {
			c.Add(a.Levels.List[1].At, fmt.Sprintf("%s has %d levels together with ablate", a.Key.Text, len(a.Levels.List)), "one: what everything else stays like")
		}
	}
	if e.As.At.Given() {
		c.Add(e.As.At, "as together with ablate", "one of them")
	}
}

func (c *checker) exclusion(x exclusion) Rule {
	r := Rule{When: map[string][]string{}, Because: x.Because.Text, Source: x.Source.Text}
	for _, a := range x.When {
		good := true
		switch a.Key.Text {
		case whenEngine, whenWorkload:
			valid := c.cat.engineNames()
			if a.Key.Text == whenWorkload {
				valid = c.cat.workloadNames()
			}
			for _, l := range a.Levels.List {
				good = c.known(l, a.Key.Text, valid) && good
			}
		default:
			good = c.known(a.Key, "factor", append([]string{whenEngine, whenWorkload}, c.cat.Factors...)) && c.factor(a, nil)
		}
		if good {
			r.When[a.Key.Text] = axisOf(a).Levels
		}
	}
	c.address(x.Source)
	return r
}

// address refuses a source that is none.
func (c *checker) address(t yamlfile.Text) {
	if !t.At.Given() {
		return
	}
	u, err := url.Parse(t.Text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		c.Add(t.At, "source is "+yamlfile.Quote(t.Text), "an address that begins with https:// or http://")
	}
}

func axisOf(a yamlfile.Axis) Axis { return Axis{Name: a.Key.Text, Levels: wordsOf(a.Levels.List)} }

// known refuses a word that is none of the valid ones. nil is a list of which nothing is
// known.
func (c *checker) known(w yamlfile.Word, kind string, valid []string) bool {
	if valid == nil || slices.Contains(valid, w.Text) {
		return true
	}
	if w.At.Given() {
		c.Unknown(w.At, kind, w.Text, valid)
	}
	return false
}
