package study

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// The kinds of record.Excluded.
const (
	Impossible  = "impossible"  // a rule forbids it, here and everywhere
	Unavailable = "unavailable" // not on this machine as it is
)

// Plan is what will run, in which order, and what will not and why. It is
// fixed: the same plan and seed give the same trials for ever.
type Plan struct {
	Study record.Study
	// Protocol has the seed that was drawn.
	Protocol     record.Protocol
	Environments []record.Environment
	Workloads    []record.Workload
	// Excluded are environments, or single workloads in one of Environments,
	// that don't run.
	Excluded []record.Excluded
	// Cells are the pairs that run: every trial is of one of them.
	Cells []Cell
	// Remarks are what a reader of the plan should know.
	Remarks []record.Remark
	// Published is set where the study names what a paper says of its matrix.
	Published *Published

	cache blockCache
}

// Cell is an environment and a workload, by their places in the plan.
type Cell struct {
	Env, Workload int
	// Blocks is in how many counted blocks, the first ones, it occurs; 0 is in all.
	Blocks int `json:",omitempty"`
	// Unwarmed: it does not occur in the blocks to warm up.
	Unwarmed bool `json:",omitempty"`
	// Further: a claim needs it, so that it may occur in more than the fixed blocks.
	Further bool `json:",omitempty"`
}

// occurs says whether the cell is in a block; warm-up blocks are those below 0.
func (c Cell) occurs(p *record.Protocol, counted int) bool {
	if counted < 0 {
		return !c.Unwarmed
	}
	return p.Occurs(c.Blocks, counted, c.Further)
}

// Options are what a plan needs to know beside study and catalogue.
type Options struct {
	// Usable says whether an engine can be had here with these levels (those
	// that are named), and if not, why and which command would help. nil
	// means that everything can.
	Usable func(engine string, levels map[string]string) (ok bool, reason, fix string)
	// Seed draws a seed where the study has none; nil draws a random one.
	Seed func() uint64
}

// baselineAdded is the code of the remark that a baseline runs which the study does not
// name; Env is its engine.
const baselineAdded = "baseline-added"

// MaxSeed is the largest seed: what every reader of JSON can hold.
const MaxSeed = 1<<53 - 1

// Counts says how many environments a plan has, by their fate, and how many
// trials it comes to, warm-up and all.
type Counts struct {
	Valid       int `json:"valid"`
	Impossible  int `json:"impossible"`
	Unavailable int `json:"unavailable"`
	Cells       int `json:"cells"`
	Trials      int `json:"trials"`
}

// Expand makes the plan of a study. An error, an *Errors, says that the study
// leaves nothing to measure on any machine; that nothing can be had on this
// one is seen from the plan's counts.
func Expand(s *Study, cat *Catalogue, opts Options) (*Plan, error) {
	p := &Plan{
		Study: record.Study{
			Name: s.Name, Title: s.Title, Path: s.Path, Source: s.Source,
			Metrics: s.Metrics, Sort: s.Sort, Scale: s.Scale, OnlyParts: s.OnlyParts, Tables: s.Tables, Claims: s.Claims, Images: s.Images,
		},
		Protocol: s.Protocol,
	}
	cat = cat.with(s.own)
	p.Protocol.Algorithm = Algorithm
	if p.Protocol.Seed == 0 {
		p.Protocol.Seed = draw(opts.Seed)
	}
	remark := func(r record.Remark) {
		if !slices.Contains(p.Remarks, r) {
			p.Remarks = append(p.Remarks, r)
		}
	}

	for _, from := range slices.Sorted(maps.Keys(s.Images)) {
		remark(record.Remark{Code: "images-bound", Level: "info", Text: fmt.Sprintf("The study's image %s is %s in this run.", from, s.Images[from])})
	}
	s = s.limited(cat)
	s, ablations := s.ablate(cat, opts, p.Protocol.Seed)
	u := unite(s, cat, remark)
	j := newJudge(s, cat, opts.Usable)
	u.addWorkloads(p, s, cat, j)
	names := ids(s, cat, u.all)
	asked, possible, anything, first := 0, 0, false, ""
	for i := range u.all {
		if len(u.when[i]) == 0 {
			continue // a baseline that no part has any use for
		}
		c := &u.all[i]
		v := j.environment(c)
		if u.asked[i] {
			anything = anything || v.kind != Impossible
			if v.kind == Impossible && first == "" {
				first = fmt.Sprintf("%s: %s", names[i], v.reason)
			}
		}
		if u.in(i, s.Published) {
			asked++
			if v.kind != Impossible {
				possible++
			}
		}
		p.add(names[i], c, v, j, cat, u.when[i])
		if base := p.EngineOf(names[i]); base != "" && !u.asked[i] {
			remark(record.Remark{Code: baselineAdded, Level: "info", Env: base,
				Text: fmt.Sprintf("The baseline %s was added: ratios are taken against it.", base)})
		}
	}
	p.Study.Parts = u.parts(s, names, p)
	for _, x := range ablations {
		p.Study.Ablations = append(p.Study.Ablations, x.name(u.idsOf(s, cat, x.entries, names)))
	}
	if !anything {
		p := &yamlfile.Problems{}
		p.Add(s.at, "every environment of the study is impossible ("+strings.TrimSuffix(first, ".")+")", "at least one that can be")
		return nil, p.Err()
	}
	p.Published = s.Published.beside(asked, possible)
	for _, r := range j.unused() {
		remark(record.Remark{Code: "rule-unused", Level: "info",
			Text: fmt.Sprintf("The study excludes what it does not contain: %s.", describe(r.When, cat))})
	}
	return p, nil
}

func draw(seed func() uint64) uint64 {
	if seed == nil {
		seed = rand.Uint64
	}
	if s := seed() & MaxSeed; s != 0 {
		return s
	}
	return 1
}

// missingBaselines gives native and floor, which every plan has, and host
// unless the study leaves it out, as far as the study does not list them. A
// study of simulated engines gets none: nothing measured belongs beside them.
func missingBaselines(s *Study, part *Part, cat *Catalogue, engines map[string]*view, asked []combination, remark func(record.Remark)) []combination {
	var out []combination
	simulated, real := 0, 0
	for _, c := range asked {
		if c.engine.Simulated {
			simulated++
		} else {
			real++
		}
	}
	if simulated > 0 {
		r := record.Remark{Code: "simulated", Level: "info", Text: "The engines of this study are simulated: nothing in it is measured, and it has no baseline."}
		if real > 0 {
			r.Level, r.Text = "warn", "The study has simulated engines next to real ones: the times of the simulated ones are made up."
			r.Advice = "Don't compare the two."
		}
		remark(r)
		if real == 0 {
			return nil
		}
	}
	if !slices.ContainsFunc(part.Workloads, func(w Workload) bool { return !cat.workload(w.Name).NeedsStore }) {
		return nil // nothing of this part runs in a baseline
	}
	for i := range cat.Engines {
		e := &cat.Engines[i]
		if !e.Baseline || slices.ContainsFunc(asked, func(c combination) bool { return c.engine.EngineInfo == e }) {
			continue
		}
		if e.Name != "native" && e.Name != "floor" && !slices.Contains(s.Baselines, e.Name) {
			continue
		}
		// A baseline under the same limit is what a limited environment is compared with.
		base := Part{Environments: s.underLimits(part, Entry{Engines: []string{e.Name}}, cat)}
		out = append(out, combine(s, &base, cat, engines, map[string]bool{}, remark)...)
	}
	return out
}

// add puts a combination where it belongs. when has, for each workload of the
// plan that it is to run, the blocks.
func (p *Plan) add(id string, c *combination, v verdict, j *judge, cat *Catalogue, when map[int]when) {
	levels := c.levels(cat)
	if v.kind == "" {
		v = j.usable(c, levels)
	}
	x := record.Excluded{ID: id, Engine: c.engine.Name, Levels: levels}
	if v.kind != "" {
		p.Excluded = append(p.Excluded, v.of(x))
		return
	}
	env := len(p.Environments)
	e := record.Environment{ID: id, Engine: c.engine.Name, Levels: levels, Unverified: c.engine.Unverified || c.engine.untried(levels)}
	if c.engine.Baseline {
		e.Baseline = c.engine.Name
	}
	p.Environments = append(p.Environments, e)
	for w := range p.Workloads {
		in, ok := when[w]
		if !ok {
			continue
		}
		if v := j.cell(c, cat.workload(p.Workloads[w].Name), p.Workloads[w].Params); v.kind != "" {
			x.Workload = p.Workloads[w].ID
			p.Excluded = append(p.Excluded, v.of(x))
			continue
		}
		p.Cells = append(p.Cells, Cell{Env: env, Workload: w, Blocks: in.blocks, Unwarmed: in.unwarmed})
	}
}

// untried says whether one of the levels was never run on the real system.
func (e *EngineInfo) untried(levels map[string]string) bool {
	for factor, level := range levels {
		if slices.Contains(e.Untried[factor], level) {
			return true
		}
	}
	return false
}

// levels gives the named levels by factor, nil where there are none.
func (c *combination) levels(cat *Catalogue) map[string]string {
	var out map[string]string
	for i, l := range c.named {
		if l != "" {
			if out == nil {
				out = map[string]string{}
			}
			out[cat.Factors[i]] = l
		}
	}
	return out
}

// Counts counts.
func (p *Plan) Counts() Counts {
	c := Counts{Valid: len(p.Environments), Cells: len(p.Cells), Trials: p.Trials()}
	for _, x := range p.Excluded {
		switch {
		case x.Workload != "":
		case x.Kind == Impossible:
			c.Impossible++
		default:
			c.Unavailable++
		}
	}
	return c
}

// EngineOf is the engine of an environment of the plan, "" where it has none of
// that id.
func (p *Plan) EngineOf(id string) string {
	for i := range p.Environments {
		if p.Environments[i].ID == id {
			return p.Environments[i].Engine
		}
	}
	return ""
}

// Drop takes an environment out of the plan before the run begins, because it
// could not be made ready. It must not be called once a trial has run: the
// places of all trials change.
func (p *Plan) Drop(id, reason, fix string) error {
	i := slices.IndexFunc(p.Environments, func(e record.Environment) bool { return e.ID == id })
	if i < 0 {
		return fmt.Errorf("dropping environment %s from the plan: it is not there", id)
	}
	e := p.Environments[i]
	// Into a new list: whoever points to an environment of the old one has what it was.
	p.Environments = slices.Concat(p.Environments[:i], p.Environments[i+1:])
	if !slices.ContainsFunc(p.Environments, func(o record.Environment) bool { return o.Engine == e.Engine }) {
		p.Remarks = slices.DeleteFunc(p.Remarks, func(r record.Remark) bool { return r.Code == baselineAdded && r.Env == e.Engine })
	}
	p.Excluded = slices.DeleteFunc(p.Excluded, func(x record.Excluded) bool { return x.ID == id })
	p.Excluded = append(p.Excluded, record.Excluded{ID: id, Engine: e.Engine, Levels: e.Levels, Kind: Unavailable, Reason: reason, Fix: fix})
	cells := p.Cells[:0]
	for _, c := range p.Cells {
		if c.Env == i {
			continue
		}
		if c.Env > i {
			c.Env--
		}
		cells = append(cells, c)
	}
	p.Cells = cells
	p.cache.clear()
	return nil
}

// DropCell takes one workload of an environment out of the plan, under the
// same condition as Drop.
func (p *Plan) DropCell(env, workload, kind, reason, fix string) error {
	i := slices.IndexFunc(p.Cells, func(c Cell) bool {
		return p.Environments[c.Env].ID == env && p.Workloads[c.Workload].ID == workload
	})
	if i < 0 {
		return fmt.Errorf("dropping %s with %s from the plan: it is not there", env, workload)
	}
	e := p.Environments[p.Cells[i].Env]
	p.Cells = slices.Delete(p.Cells, i, i+1)
	p.Excluded = append(p.Excluded, record.Excluded{ID: env, Engine: e.Engine, Levels: e.Levels, Workload: workload, Kind: kind, Reason: reason, Fix: fix})
	p.cache.clear()
	return nil
}

// DropCells takes out of the plan, as unavailable, each workload in an environment for
// which why has a reason.
func (p *Plan) DropCells(why func(*record.Environment, *record.Workload) (reason, fix string)) {
	p.Cells = slices.DeleteFunc(p.Cells, func(c Cell) bool {
		e, w := &p.Environments[c.Env], &p.Workloads[c.Workload]
		reason, fix := why(e, w)
		if reason != "" {
			p.Excluded = append(p.Excluded, record.Excluded{ID: e.ID, Engine: e.Engine, Levels: e.Levels, Workload: w.ID, Kind: Unavailable, Reason: reason, Fix: fix})
		}
		return reason != ""
	})
	p.cache.clear()
}
