package study

import (
	"maps"
	"slices"
	"strconv"

	"plimsoll/internal/common/yamlfile"
)

// The factors whose levels are limits on a container.
const (
	cpuFactor    = "cpu-limit"
	memoryFactor = "memory-limit"
)

// limitLevels says of each factor that is a limit what its levels are.
var limitLevels = map[string]string{
	cpuFactor:    "a number of CPUs from 0.01 to 4096, such as 0.5, or none, or default",
	memoryFactor: "a size from 1MiB to 1024TiB in its largest whole unit, such as 512MiB or 1GiB, or none, or default",
}

// limitFactors are they, in the order of ids.
var limitFactors = []string{cpuFactor, memoryFactor}

// isLimit says whether a level is one of that limit. One limit has one spelling, so
// that it is one environment.
func isLimit(factor, level string) bool {
	if level == defaultLevel || level == yamlfile.None {
		return true
	}
	canonical, ok := limitLevel(factor, level)
	return ok && canonical == level
}

// limitLevel gives the one spelling of a limit.
func limitLevel(factor, text string) (level string, ok bool) {
	if text == yamlfile.None {
		return text, true
	}
	if factor == memoryFactor {
		bytes, ok := yamlfile.ParseSize(text)
		return yamlfile.FormatSize(bytes), ok
	}
	n, ok := yamlfile.ParseAmount(text)
	return amountLevel(n), ok
}

func amountLevel(n float64) string {
	if n == 0 {
		return yamlfile.None
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// levels are limits as levels by factor; nil where none is given.
func (l limits) levels() map[string][]string {
	out := map[string][]string{}
	add := func(factor, level string) {
		if !slices.Contains(out[factor], level) { // 1 and 1.0
			out[factor] = append(out[factor], level)
		}
	}
	for _, x := range l.CPUs.List {
		add(cpuFactor, amountLevel(x.N))
	}
	for _, x := range l.Memory.List {
		add(memoryFactor, yamlfile.FormatSize(x.Bytes))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// under lays other limits over these, key by key.
func (l limits) under(over limits) limits {
	put(&l.CPUs, over.CPUs, over.CPUs.At.Given())
	put(&l.Memory, over.Memory, over.Memory.At.Given())
	return l
}

// oneLimit refuses several limits where mechanisms are taken away: each would be a
// chain of its own.
func (c *checker) oneLimit(e environment, l limits) {
	if !e.Ablate.At.Given() {
		return
	}
	for _, several := range []struct {
		key string
		n   int
		at  yamlfile.Pos
	}{{"cpus", len(l.CPUs.List), l.CPUs.At}, {"memory", len(l.Memory.List), l.Memory.At}} {
		if several.n > 1 {
			c.Add(several.at, "limits."+several.key+" is a list together with ablate", "one limit: what everything else stays like")
		}
	}
}

// Limit sets a limit for the whole study, parts too, instead of its own: factor is
// cpu-limit or memory-limit, and of several levels each environment is had with each.
// An entry that names the factor itself keeps what it names. The error is an *Errors.
func (s *Study) Limit(factor string, levels []string) error {
	p := &yamlfile.Problems{}
	var list []string
	for _, text := range levels {
		level, ok := limitLevel(factor, text)
		switch {
		case !ok:
			p.Add(yamlfile.Pos{}, "unknown "+factor+" "+yamlfile.Quote(text), limitLevels[factor])
		case slices.Contains(list, level):
			p.Add(yamlfile.Pos{}, factor+" is named twice as "+yamlfile.Quote(level), "each once")
		}
		list = append(list, level)
	}
	for i := range s.Parts {
		for _, e := range s.Parts[i].Environments {
			if e.Ablate != nil && len(list) > 1 {
				p.Add(e.at, "several limits together with ablate", "one limit: what everything else stays like")
			}
		}
	}
	if p.Any() {
		return p.Err()
	}
	s.Limits = maps.Clone(s.Limits)
	if s.Limits == nil {
		s.Limits = map[string][]string{}
	}
	s.Limits[factor] = list
	for i := range s.Parts {
		s.Parts[i].Limits = maps.Clone(s.Parts[i].Limits)
		delete(s.Parts[i].Limits, factor)
	}
	if factor == memoryFactor {
		s.Protocol.MemoryBytes, _ = yamlfile.ParseSize(list[0])
	} else {
		s.Protocol.CPUs, _ = yamlfile.ParseAmount(list[0])
	}
	return nil
}

// limited writes the limits that vary into the entries, as factors.
func (s *Study) limited(cat *Catalogue) *Study {
	out := *s
	out.Parts = slices.Clone(s.Parts)
	for i := range out.Parts {
		part := &out.Parts[i]
		var entries []Entry
		for _, e := range part.Environments {
			entries = append(entries, s.underLimits(&s.Parts[i], e, cat)...)
		}
		part.Environments = entries
	}
	return &out
}

// varies says whether a limit has more than one level in the study. All parts then
// name it, so that two that have the same have one environment.
func (s *Study) varies(factor string) bool {
	all := map[string]bool{}
	for i := range s.Parts {
		for _, l := range s.levelsOf(factor, &s.Parts[i]) {
			all[l] = true
		}
	}
	return len(all) > 1
}

// levelsOf are the levels of a limit in a part: its own, else the study's.
func (s *Study) levelsOf(factor string, part *Part) []string {
	if l := part.Limits[factor]; l != nil {
		return l
	}
	if l := s.Limits[factor]; l != nil {
		return l
	}
	if factor == memoryFactor {
		return []string{yamlfile.FormatSize(s.Protocol.MemoryBytes)}
	}
	return []string{amountLevel(s.Protocol.CPUs)}
}

// underLimits gives an entry the limits of its part as further factors. Engines that
// can't be limited are an entry of their own: they run as they are.
func (s *Study) underLimits(part *Part, e Entry, cat *Catalogue) []Entry {
	var axes []Axis
	for _, f := range limitFactors {
		if s.varies(f) && !e.names(f) && s.Common[f] == "" {
			axes = append(axes, Axis{f, s.levelsOf(f, part)})
		}
	}
	if len(axes) == 0 {
		return []Entry{e}
	}
	with, without := e, e
	with.Engines, without.Engines = nil, nil
	with.Factors = slices.Concat(e.Factors, axes)
	for _, name := range e.Engines {
		if info := cat.engine(name); info == nil || len(info.Levels[axes[0].Name]) == 0 {
			without.Engines = append(without.Engines, name)
		} else {
			with.Engines = append(with.Engines, name)
		}
	}
	var out []Entry
	if len(with.Engines) > 0 {
		out = append(out, with)
	}
	if len(without.Engines) > 0 {
		out = append(out, without)
	}
	return out
}
