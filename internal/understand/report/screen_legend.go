package report

import (
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// roomy is from how many characters on a legend also says what can be looked up.
const roomy = 100

// legend is what a reader needs to know of a table to read it alone: what its rows without
// a rank are, its columns, what its names leave out, and what their abbreviations stand for.
func (s *screen) legend(a *verdict.Answer, t laid) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if !t.noted {
		add(baselineLegend(func(env string) bool { return a.Table.Cell(env) != nil }))
	}
	if s.Width >= roomy {
		add(s.typedLegend(a))
	}
	add(s.networkLegend(a.All))
	add(clientLegend(a.All))
	add(s.rangesLegend(a, t))
	if t.times {
		of := ": median over blocks"
		if narrowed(a) { // the first of all may not be shown
			of = " shown" + of
		}
		add(words.Times(a.Table.Metric) + of)
	}
	if t.lacks != unsaid {
		add(s.lacksLegend(t.lacks))
	}
	if t.axis.cells > 0 && s.Width >= roomy {
		add(t.axis.legend())
	}
	add(t.names)
	return strings.Join(parts, " · ")
}

// rangesLegend says what a rank and an interval hold of. Both are of 95 %, and a rank that
// is wider than its row's interval looks like a mistake: it holds for all rows together.
func (s *screen) rangesLegend(a *verdict.Answer, t laid) string {
	each := "[a, b]"
	if t.axis.cells > 0 && s.Width >= roomy {
		each += " ├ ┤"
	}
	ranks := "95 %: all ranks at once"
	if narrowed(a) {
		ranks = "95 %: all ranks (in the whole run) at once"
	}
	known := slices.ContainsFunc(a.Table.Cells, func(c analyze.Cell) bool { return c.Median != nil && c.Median.Lo != nil })
	switch {
	case t.ranked && known:
		return ranks + ", each " + each + " alone"
	case t.ranked:
		return ranks
	case known:
		return each + ": 95 %"
	}
	return ""
}

// narrowed says whether a part of a run is shown, without what is first in the whole.
func narrowed(a *verdict.Answer) bool {
	ranked := func(c analyze.Cell) bool { return c.Places != nil }
	first := func(c analyze.Cell) bool { return ranked(c) && c.Places.First == 1 }
	return slices.ContainsFunc(a.Table.Cells, ranked) && !slices.ContainsFunc(a.Table.Cells, first)
}

// pageLegend is what a page says above its chart of what stands in it: its rows that are
// no engine's, and what names and marks stand for.
func (s *screen) pageLegend() string {
	var envs []string
	for _, e := range s.res.Environments {
		if e.Baseline == "" {
			envs = append(envs, e.ID)
		}
	}
	there := func(env string) bool { return s.res.Environment(env) != nil }
	lines := slices.DeleteFunc([]string{"native", "floor"}, func(env string) bool { return !there(env) })
	parts := []string{baselineLegend(there)}
	if len(lines) > 0 {
		parts = append(parts, "dashed lines: "+strings.Join(lines, ", "))
	}
	ranked := func(a verdict.Answer) bool {
		return slices.ContainsFunc(a.Table.Cells, func(c analyze.Cell) bool { return c.Places != nil })
	}
	if slices.ContainsFunc(s.answers, ranked) {
		parts = append(parts, "95 %: all ranks at once, each [a, b] and whisker alone")
	}
	parts = append(parts, s.networkLegend(envs), clientLegend(envs))
	if slices.ContainsFunc(envs, s.lacksSome) {
		parts = append(parts, s.lacksLegend(inWords))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}

// networkLegend says which network the rows have whose names name none, where other rows'
// names do; "" where these have not all the same.
func (s *screen) networkLegend(envs []string) string {
	unnamed, named := map[string]bool{}, false
	for _, env := range envs {
		e := s.res.Environment(env)
		if strings.Contains(env, "/network-") || e == nil {
			named = true
			continue
		}
		unnamed[e.Facts["network"]] = true
	}
	if !named || len(unnamed) != 1 {
		return ""
	}
	for network := range unnamed {
		switch network {
		case "":
		case "none":
			return "no network unless named"
		default:
			return "network " + words.Clean(network) + " unless named"
		}
	}
	return ""
}

// clientLegend says what the names' api and cli are, where one has it.
func clientLegend(envs []string) string {
	var parts []string
	for _, c := range []struct{ client, how string }{{"api", "socket"}, {"cli", "command"}} {
		if slices.ContainsFunc(envs, func(env string) bool { return slices.Contains(strings.Split(env, "/"), c.client) }) {
			parts = append(parts, c.client+": "+c.how)
		}
	}
	return strings.Join(parts, ", ")
}

// legend says what a picture's signs are, and how much a column of it is.
func (a axis) legend() string {
	text := "● median"
	if a.base > 0 {
		text += ", │ " + words.Clean(a.name)
	}
	return text
}

// baselines are the rows without a rank, and what they are.
var baselines = []struct{ env, what string }{
	{"host", "no container"}, {"native", "no container"}, {"floor", "least container"},
}

// baselineLegend says what those are that are there.
func baselineLegend(there func(env string) bool) string {
	var parts []string
	last := ""
	for _, b := range baselines {
		switch n := len(parts); {
		case !there(b.env):
		case b.what == last:
			parts[n-1] = strings.Replace(parts[n-1], ": ", ", "+b.env+": ", 1)
		default:
			parts, last = append(parts, b.env+": "+b.what), b.what
		}
	}
	return strings.Join(parts, " · ")
}

// noted are the names of rows, those of baselines with what they are.
func noted(names []string) []string {
	out := slices.Clone(names)
	for _, b := range baselines {
		if i := slices.Index(out, b.env); i >= 0 {
			out[i] += ": " + b.what
		}
	}
	return out
}
