package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/words"
)

// abbreviation stands for a part that several names of environments have: a level, or
// what stands before its value, as cpu-limit- in cpu-limit-0.5.
type abbreviation struct{ part, short string }

// abbreviated shortens parts that names have in common, the one that saves most first,
// until all have room or nothing helps. The engine, with which a name begins, stays. A
// name's place keeps it; what each abbreviation stands for is said once.
func abbreviated(names []string, room int) (short []string, said []abbreviation) {
	short = slices.Clone(names)
	long := func() bool {
		return slices.ContainsFunc(short, func(n string) bool { return words.Width(n) > room })
	}
	for long() && len(said) < 6 {
		count := map[string]int{}
		for _, n := range short {
			if words.Width(n) <= room {
				continue
			}
			for _, p := range partsOf(n) {
				count[p]++
			}
		}
		best := abbreviation{}
		for p := range count {
			if count[p] < 2 {
				continue
			}
			a := abbreviation{p, shortFor(p, said, names)}
			saves := func(x abbreviation) int { return count[x.part] * (words.Width(x.part) - words.Width(x.short)) }
			if d := saves(a) - saves(best); saves(a) > 0 && (best.part == "" || d > 0 || d == 0 && a.part < best.part) {
				best = a
			}
		}
		if best.part == "" {
			break
		}
		said = append(said, best)
		for i, n := range short {
			short[i] = best.in(n)
		}
	}
	return short, said
}

// partsOf are the levels of a name, and what stands before the value of one.
func partsOf(name string) (parts []string) {
	for i, level := range strings.Split(name, "/") {
		if i == 0 || strings.Contains(level, "…") {
			continue
		}
		parts = append(parts, level)
		if k := strings.LastIndexByte(level, '-'); k > 0 {
			parts = append(parts, level[:k+1])
		}
	}
	return parts
}

// in puts the abbreviation into a name.
func (a abbreviation) in(name string) string {
	levels := strings.Split(name, "/")
	for i, l := range levels {
		switch {
		case i == 0:
		case l == a.part:
			levels[i] = a.short
		case strings.HasSuffix(a.part, "-") && strings.HasPrefix(l, a.part):
			levels[i] = a.short + l[len(a.part):]
		}
	}
	return strings.Join(levels, "/")
}

// shortFor is the part's beginning with an ellipsis, as short as no other means it.
func shortFor(part string, said []abbreviation, names []string) string {
	r := []rune(part)
	for n := 1; n < len(r); n++ {
		s := string(r[:n]) + "…"
		taken := slices.ContainsFunc(said, func(a abbreviation) bool { return a.short == s }) ||
			slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, s) })
		if !taken {
			return s
		}
	}
	return part
}

// legendOf says what the abbreviations stand for.
func legendOf(said []abbreviation) string {
	slices.SortFunc(said, func(a, b abbreviation) int { return cmp.Compare(a.short, b.short) })
	var parts []string
	for _, a := range said {
		parts = append(parts, fmt.Sprintf("%s is %s", a.short, a.part))
	}
	return strings.Join(parts, ", ")
}
