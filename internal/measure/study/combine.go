package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
)

// maxCombinations bounds environments × workloads of a study, far above what
// anybody can wait for, and maxTrials what they come to over all blocks: as many
// as a record can number.
const (
	maxCombinations = 200_000
	maxTrials       = record.MaxSeq
)

// A view is an engine with its factors by number, since a plan asks for them
// very often.
type view struct {
	*EngineInfo
	known [][]string
	usual []string // the level in force where none is named
}

// views gives each engine's view, by name.
func views(cat *Catalogue) map[string]*view {
	out := make(map[string]*view, len(cat.Engines))
	for i := range cat.Engines {
		e := &cat.Engines[i]
		v := &view{EngineInfo: e}
		for _, f := range cat.Factors {
			v.known = append(v.known, e.Levels[f])
			usual := e.resolve(f, "")
			if f == imageFactor {
				usual = defaultLevel // each workload's own, which no level stands for
			}
			v.usual = append(v.usual, usual)
		}
		out[e.Name] = v
	}
	return out
}

// level gives the level in force of a factor.
func (c *combination) level(factor int) string {
	if c.named[factor] == "" {
		return c.engine.usual[factor]
	}
	return c.named[factor]
}

// A combination is one environment that a study asks for.
type combination struct {
	engine *view
	// named are the levels as named, by the number of the factor; "" where
	// the study leaves it to the engine.
	named []string
	alias string
}

// product multiplies without overflow: what is too much stays too much.
func product(ns ...int) int {
	out := 1
	for _, n := range ns {
		if n != 0 && out > math.MaxInt32/n {
			return math.MaxInt32
		}
		out *= n
	}
	return out
}

// combinations counts what an entry stands for, without making it.
func (e *Entry) combinations() int {
	n := product(len(e.Engines), max(1, len(e.As)))
	for _, a := range e.Factors {
		n = product(n, len(a.Levels))
	}
	return n
}

func (w *Workload) combinations() int {
	n := 1
	for _, a := range w.Parameters {
		n = product(n, len(a.Levels))
	}
	return n
}

// size refuses a study that can't be meant.
func (c *checker) size(s *Study) {
	if c.Any() {
		return
	}
	cells := 0
	for _, part := range s.Parts {
		w, e := 0, 0
		for i := range part.Workloads {
			w = min(w+part.Workloads[i].combinations(), math.MaxInt32)
		}
		for i := range part.Environments {
			e = min(e+part.Environments[i].combinations(), math.MaxInt32)
			if cells+product(e, w) > maxCombinations {
				c.Add(part.Environments[i].at, fmt.Sprintf("with this entry the study has more than %d combinations of environments and workloads", maxCombinations), "fewer levels or parameters")
				return
			}
		}
		cells += product(e, w)
	}
	p := s.Protocol
	if n := (p.Blocks + p.Warmup) * p.PerBlock; n > maxTrials/max(1, cells) {
		c.Add(s.at, fmt.Sprintf("the study has more than %d trials", maxTrials), "fewer blocks or combinations")
	}
}

// combine lists every environment that a part asks for, in its order, each
// once. A combination that two entries ask for is the same environment.
func combine(s *Study, part *Part, cat *Catalogue, engines map[string]*view, missed map[string]bool, remark func(record.Remark)) []combination {
	index := map[string]int{}
	for i, f := range cat.Factors {
		index[f] = i
	}
	var out []combination
	seen := map[string]bool{}
	for i := range part.Environments {
		e := &part.Environments[i]
		for _, name := range e.Engines {
			engine := engines[name]
			base := commonLevels(s, cat, engine.EngineInfo, e, missed, remark)
			each(e.Factors, func(levels []string) {
				named := slices.Clone(base)
				for j, l := range levels {
					if l == defaultLevel {
						l = ""
					}
					named[index[e.Factors[j].Name]] = l
				}
				for _, alias := range orOne(e.As) {
					c := combination{engine, named, alias}
					key := c.identity()
					if seen[key] {
						continue
					}
					seen[key] = true
					out = append(out, c)
				}
			})
		}
	}
	return out
}

// commonLevels gives the levels that the study has in common, as far as the
// engine knows them. Where it does not, that is said: the terms are not equal.
func commonLevels(s *Study, cat *Catalogue, engine *EngineInfo, e *Entry, missed map[string]bool, remark func(record.Remark)) []string {
	named := make([]string, len(cat.Factors))
	for i, f := range cat.Factors {
		level := s.Common[f]
		if level == "" || level == defaultLevel || e != nil && e.names(f) {
			continue
		}
		if engine.knows(f, level) {
			named[i] = level
			continue
		}
		if key := engine.Name + "\x00" + f; !missed[key] && !engine.Baseline {
			missed[key] = true
			remark(record.Remark{
				Code: "unequal-terms", Level: "warn",
				Text:   fmt.Sprintf("%s can't be run with the common %s %s and runs as it does by default.", engine.Name, f, level),
				Advice: fmt.Sprintf("Keep the difference in mind when you compare %s with the others, or exclude it.", engine.Name),
			})
		}
	}
	return named
}

func (e *Entry) names(factor string) bool {
	return slices.ContainsFunc(e.Factors, func(a Axis) bool { return a.Name == factor })
}

// each calls f with every combination of levels, the last axis fastest. The
// slice is reused.
func each(axes []Axis, f func(levels []string)) {
	at := make([]int, len(axes))
	levels := make([]string, len(axes))
	for {
		for i, a := range axes {
			levels[i] = a.Levels[at[i]]
		}
		f(levels)
		i := len(axes) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(axes[i].Levels) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// identity is the same for two environments that are one: a level that is
// named and the same level by default are no difference.
func (c *combination) identity() string {
	var b strings.Builder
	b.Grow(64)
	b.WriteString(c.engine.Name)
	for f := range c.named {
		b.WriteByte('\n')
		b.WriteString(c.level(f))
	}
	b.WriteByte('@')
	b.WriteString(c.alias)
	return b.String()
}

// orOne makes an empty list one empty word, so that a loop runs once.
func orOne(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}
