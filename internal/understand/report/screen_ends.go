package report

import (
	"slices"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// end is the best or the worst environment of a workload, with its median.
type end struct {
	name, short, value string // "" of a worst that is the best
}

func (e end) text() string { return e.short + e.value }

// ends are the best and the worst environment of each line, in so many characters. Where
// two names of the table would look alike, all of them get what keeps them apart: then
// the workloads, which have so many characters, give way, and at last the medians.
func (s *screen) ends(lines []line, room, workloads int) [][2]end {
	out := make([][2]end, len(lines))
	var names []string
	for i := range lines {
		out[i] = s.endsOf(&lines[i], room)
		for _, e := range out[i] {
			if e.name != "" && !slices.Contains(names, e.name) {
				names = append(names, e.name)
			}
		}
	}
	if allApart(out) {
		return out
	}
	longest := 0
	for _, n := range names {
		longest = max(longest, words.Width(n))
	}
	for _, give := range []struct {
		beside  int
		medians bool
	}{{workloads, true}, {leastWorkload, true}, {workloads, false}, {leastWorkload, false}} {
		for n := longest; n >= leastEnd; n-- {
			trial := named(out, names, words.Apart(names, n, n), give.medians)
			if give.beside+wide(trial)+3*document.Between+8 <= s.Width && allApart(trial) {
				return trial
			}
		}
	}
	return out
}

// What is left at least of an environment's name, and of a workload's.
const (
	leastEnd      = 4
	leastWorkload = 10
)

// named are the ends under other short names, with or without their medians.
func named(ends [][2]end, names, short []string, medians bool) [][2]end {
	out := slices.Clone(ends)
	for i := range out {
		for k := range out[i] {
			e := &out[i][k]
			if at := slices.Index(names, e.name); at >= 0 {
				e.short = short[at]
			}
			if !medians {
				e.value = ""
			}
		}
	}
	return out
}

// allApart says whether no two environments look alike.
func allApart(ends [][2]end) bool {
	is := map[string]string{}
	for _, l := range ends {
		for _, e := range l {
			if other, ok := is[e.short]; ok && other != e.name {
				return false
			}
			is[e.short] = e.name
		}
	}
	return true
}

// wide is how much room both columns take.
func wide(ends [][2]end) int {
	var most [2]int
	for _, l := range ends {
		for k, e := range l {
			most[k] = max(most[k], words.Width(e.text()))
		}
	}
	return most[0] + most[1]
}

// endsOf are those of a line, each in so many characters.
func (s *screen) endsOf(l *line, room int) (out [2]end) {
	least := room
	for i, env := range []string{l.All[0], l.worst} {
		e := &out[i]
		e.name = words.Clean(env)
		e.value = strings.TrimPrefix(s.with(l.Answer, env, false), e.name)
		has := max(leastEnd, room-words.Width(e.value))
		e.short, least = words.Shorten(e.name, has), min(least, has)
	}
	switch {
	case l.worst == l.All[0]:
		out[1] = end{}
	case out[0].short == out[1].short:
		short := words.Apart([]string{out[0].name, out[1].name}, least, least)
		out[0].short, out[1].short = short[0], short[1]
	}
	return out
}
