package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// fromCommand stands for the lines of the workload's programs.
const fromCommand = "command"

// leftOut is what a scale has in place of a workload that it does not run.
const leftOut = "left out"

// found is what a study has in one place: a part, an engine or a workload.
type found struct {
	where  string
	levels []string
}

// meant are the parts that a fact is about.
func (f *paperFact) meant(s *Study) []Part {
	var out []Part
	for _, p := range s.Parts {
		named := slices.ContainsFunc(f.Parts.List, func(w yamlfile.Word) bool { return w.Text == p.Name })
		if p.Skipped != "" || strings.HasPrefix(p.Name, "why-") || len(f.Parts.List) > 0 && !named {
			continue
		}
		if len(f.Workload.names) == 0 || slices.ContainsFunc(p.Workloads, f.isOf) {
			out = append(out, p)
		}
	}
	return out
}

// idle says whether the study has nothing that the fact is about, its parts
// that ask why included.
func (f *paperFact) idle(s *Study) bool {
	return len(f.meant(s)) == 0 && (len(f.Workload.names) == 0 || !slices.ContainsFunc(s.Parts, func(p Part) bool { return slices.ContainsFunc(p.Workloads, f.isOf) }))
}

// isOf says whether a workload of a study is one that the fact is about.
func (f *paperFact) isOf(w Workload) bool {
	if !slices.ContainsFunc(f.Workload.names, func(n yamlfile.Word) bool { return n.Text == w.Name }) {
		return false
	}
	for _, a := range f.Workload.params {
		for _, have := range w.Parameters {
			if have.Name == a.Key.Text && !slices.ContainsFunc(a.Levels.List, func(l yamlfile.Word) bool { return slices.Contains(have.Levels, l.Text) }) {
				return false
			}
		}
	}
	return true
}

// here reads from a study what a fact is about, place by place. Nothing is
// found where the study has no such part or workload.
func (f *paperFact) here(s *Study, cat *Catalogue) ([]found, error) {
	from := f.From.Text
	var out []found
	for _, p := range f.meant(s) {
		switch {
		case from == fromCommand || f.parameter(from, cat):
			for _, w := range p.Workloads {
				if f.isOf(w) {
					out = append(out, found{w.Name, f.ofWorkload(from, w, s, cat)})
				}
			}
		case slices.Contains(cat.Factors, from):
			out = append(out, f.levelsOfPart(p, s, cat)...)
		default:
			level, ok := ofProtocol(from, &s.Protocol, &p)
			if !ok {
				return nil, yamlfile.Fail(f.From.At.Path, fmt.Sprintf("line %d: unknown from %q", f.From.At.Line, from),
					"blocks, pause, order, cache, cpus, memory, command, a factor, or a parameter of the workload")
			}
			out = append(out, found{p.Name, []string{level}})
		}
	}
	return gather(out), nil
}

// parameter says whether all of the fact's workloads have a parameter.
func (f *paperFact) parameter(name string, cat *Catalogue) bool {
	for _, w := range f.Workload.names {
		if info := cat.workload(w.Text); info == nil || info.Parameters[name] == nil {
			return false
		}
	}
	return len(f.Workload.names) > 0
}

func (f *paperFact) ofWorkload(from string, w Workload, s *Study, cat *Catalogue) []string {
	info := cat.workload(w.Name)
	if from == fromCommand {
		return info.Commands
	}
	for _, a := range w.Parameters {
		if a.Name == from {
			return a.Levels
		}
	}
	if small, ok := info.Small[from]; ok && s.Protocol.SmallSizes {
		return []string{small}
	}
	return info.Parameters[from][:1]
}

// levelsOfPart are a factor's levels by engine, without the baselines, which
// have none to choose. What is left to the engine is its default, by that word
// where the paper left it to the engine too.
func (f *paperFact) levelsOfPart(p Part, s *Study, cat *Catalogue) []found {
	factor, left := f.From.Text, slices.Contains(f.Is.list, defaultLevel)
	var out []found
	for _, e := range p.Environments {
		for _, name := range e.Engines {
			info := cat.engine(name)
			if info == nil || info.Baseline || info.Levels[factor] == nil {
				continue
			}
			levels := []string{s.Common[factor]}
			for _, a := range e.Factors {
				if a.Name == factor {
					levels = a.Levels
				}
			}
			in := found{where: name}
			for _, l := range levels {
				if left && l == "" {
					l = defaultLevel
				} else {
					l = info.resolve(factor, l)
				}
				in.levels = append(in.levels, l)
			}
			out = append(out, in)
		}
	}
	return out
}

// ofProtocol is a key of the protocol in a part.
func ofProtocol(key string, p *record.Protocol, part *Part) (string, bool) {
	switch key {
	case "blocks":
		if part.Blocks > 0 {
			return strconv.Itoa(part.Blocks), true
		}
		return strconv.Itoa(p.Fixed()), true
	case "pause":
		return span(time.Duration(p.PauseNS)), true
	case "order":
		return p.Order, true
	case "cache":
		return p.Cache, true
	case "cpus":
		if p.CPUs == 0 {
			return yamlfile.None, true
		}
		return strconv.FormatFloat(p.CPUs, 'f', -1, 64), true
	case "memory":
		return amount(p.MemoryBytes), true
	}
	return "", false
}

// span writes a time as a study does: 2m, not 2m0s.
func span(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func amount(bytes int64) string {
	switch {
	case bytes == 0:
		return yamlfile.None
	case bytes%1e9 == 0:
		return fmt.Sprintf("%dGB", bytes/1e9)
	case bytes%(1<<30) == 0:
		return fmt.Sprintf("%dGiB", bytes>>30)
	}
	return fmt.Sprintf("%dB", bytes)
}

// gather joins what was found in one place, each level once.
func gather(list []found) []found {
	var out []found
	for _, x := range list {
		i := slices.IndexFunc(out, func(o found) bool { return o.where == x.where })
		if i < 0 {
			out, i = append(out, found{where: x.where}), len(out)
		}
		for _, l := range x.levels {
			if !slices.Contains(out[i].levels, l) {
				out[i].levels = append(out[i].levels, l)
			}
		}
	}
	return out
}

// same says whether every place has what the paper had, and nothing else.
func (f *paperFact) same(list []found) bool {
	for _, x := range list {
		for _, want := range f.Is.list {
			held := slices.Contains(x.levels, want)
			if f.From.Text == fromCommand {
				held = slices.ContainsFunc(x.levels, func(line string) bool { return strings.Contains(" "+line+" ", " "+want+" ") })
			}
			if !held {
				return false
			}
		}
		if f.From.Text != fromCommand && len(x.levels) != len(f.Is.list) {
			return false
		}
	}
	return true
}

// sentence writes what was found; the places are named where they differ.
func sentence(list []found) string {
	if len(list) == 0 {
		return leftOut
	}
	var texts []string
	var where [][]string
	for _, x := range list {
		text := strings.Join(x.levels, ", ")
		i := slices.Index(texts, text)
		if i < 0 {
			texts, where, i = append(texts, text), append(where, nil), len(texts)
		}
		where[i] = append(where[i], x.where)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for i := range texts {
		texts[i] += " (" + strings.Join(where[i], ", ") + ")"
	}
	return strings.Join(texts, "; ")
}
