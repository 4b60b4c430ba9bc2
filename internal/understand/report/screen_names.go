package report

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
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
		all, count := map[string]int{}, map[string]int{} // in names, and in those without room
		for _, n := range short {
			for _, p := range partsOf(n) {
				all[p]++
				if words.Width(n) > room {
					count[p]++
				}
			}
		}
		best := abbreviation{}
		for p := range count {
			if all[p] < 2 {
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

// shortFor is the part's beginning with an ellipsis, or what it begins and ends with,
// whichever is shorter: long enough that it fits no other part of a name, since
// abbreviations that differ by a letter are taken for each other.
func shortFor(part string, said []abbreviation, names []string) string {
	var others []string
	for _, name := range names {
		for i, l := range strings.Split(name, "/") {
			if i > 0 && l != part && (!strings.HasSuffix(part, "-") || !strings.HasPrefix(l, part)) {
				others = append(others, l)
			}
		}
	}
	free := func(s, head, tail string) bool {
		return !slices.ContainsFunc(said, func(a abbreviation) bool { return alike(a.short, s) }) &&
			!slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, s) }) &&
			!slices.ContainsFunc(others, func(l string) bool { return strings.HasPrefix(l, head) && strings.HasSuffix(l, tail) })
	}
	r, short := []rune(part), part
	for n := 2; n < len(r)-1 && short == part; n++ {
		if head := string(r[:n]); free(head+"…", head, "") {
			short = head + "…"
		}
	}
	head, tails := string(r[:1]), []string(nil)
	if k := strings.LastIndexByte(part, '-'); k > 0 {
		tails = append(tails, part[k+1:])
	}
	for n := 3; n < len(r)-2; n++ {
		tails = append(tails, string(r[len(r)-n:]))
	}
	for _, tail := range tails {
		if s := head + "…" + tail; tail != "" && !strings.HasSuffix(part, "-") && free(s, head, tail) {
			if words.Width(s) < words.Width(short) {
				return s
			}
			break
		}
	}
	return short
}

// alike: two abbreviations differ by a letter at the most.
func alike(a, b string) bool {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return max(len(x), len(y)) < 2
}

// legendOf says what the abbreviations stand for.
func legendOf(said []abbreviation) string {
	slices.SortFunc(said, func(a, b abbreviation) int { return cmp.Compare(a.short, b.short) })
	parts := lists.Map(said, func(a abbreviation) string { return a.short + " " + a.part })
	return strings.Join(parts, ", ")
}
