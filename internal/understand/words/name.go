package words

import (
	"slices"
	"strings"
	"unicode/utf8"

	"plimsoll/internal/record"
)

// MaxName bounds the name of an environment in a table, in characters.
const MaxName = 32

// Name is an environment's name as tables and charts have room for it: clean,
// and a long one without its middle, since names of one engine differ at their
// ends. It need not be unique.
func Name(env string) string { return Shorten(Clean(env), MaxName) }

// Rows are what the rows of a table are called, each as Name says or, where two would look
// alike, a little longer.
func Rows(envs []string) []string { return RowsOf(envs, MaxName) }

// RowsOf are Rows of which each has n characters.
func RowsOf(envs []string, n int) []string {
	clean := make([]string, len(envs))
	for i, e := range envs {
		clean[i] = Clean(e)
	}
	return Apart(clean, n, n+8)
}

// Names are what environments are called where there is little room, by their
// ids. Two long names may lose what tells them apart: they are then whole.
func Names(envs []record.Environment) map[string]string {
	times := map[string]int{}
	for _, e := range envs {
		times[Name(e.ID)]++
	}
	out := map[string]string{}
	for _, e := range envs {
		if out[e.ID] = Name(e.ID); times[out[e.ID]] > 1 {
			out[e.ID] = e.ID
		}
	}
	return out
}

// Shorten takes the middle out of a text, so that n characters are left. Both
// ends stay, the tail whole from its last slash where that fits.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	tail := n * 2 / 5
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		if k := utf8.RuneCountInString(s[i:]); k <= n/2 {
			tail = k
		}
	}
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}

// Apart shortens names to n characters, so that those that differ still do. Of names that
// would look alike it keeps the beginning, the levels in which they differ and, as far as
// most characters have room, others: those first that few names of all have.
func Apart(names []string, n, most int) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = Shorten(s, n)
	}
	rivals := make([][]string, len(names)) // whom each has looked like
	for range 4 {
		alike := map[string][]string{}
		for i, s := range names {
			if !slices.Contains(alike[out[i]], s) {
				alike[out[i]] = append(alike[out[i]], s)
			}
		}
		if len(alike) == len(names) {
			break
		}
		for i, s := range names {
			if group := alike[out[i]]; len(group) > 1 {
				rivals[i] = append(rivals[i], group...)
				out[i] = own(s, rivals[i], names, most)
			}
		}
	}
	return out
}

// own is a name by its beginning and the levels in which it differs from its rivals, with
// as many of the others as there is room for.
func own(name string, rivals, all []string, most int) string {
	levels := strings.Split(name, "/")
	has := func(other, level string) bool { return slices.Contains(strings.Split(other, "/"), level) }
	keep, rest := make([]bool, len(levels)), []int(nil)
	for i, l := range levels {
		keep[i] = i == 0 || slices.ContainsFunc(rivals, func(r string) bool { return !has(r, l) })
		if !keep[i] {
			rest = append(rest, i)
		}
	}
	common := func(i int) (n int) {
		for _, a := range all {
			if has(a, levels[i]) {
				n++
			}
		}
		return n
	}
	slices.SortStableFunc(rest, func(a, b int) int { return common(a) - common(b) })
	for _, i := range rest {
		keep[i] = true
		keep[i] = utf8.RuneCountInString(gapped(levels, keep)) <= most
	}
	s := gapped(levels, keep)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	s = strings.TrimSuffix(s, "…")
	over, head := utf8.RuneCountInString(s)-most, []rune(levels[0])
	if rest, gap := strings.CutPrefix(s, levels[0]+"…"); gap && over > 0 && len(head)-over > 2 {
		return string(head[:len(head)-over]) + "…" + rest
	}
	return Shorten(s, most)
}

// gapped are the levels that are kept, with an ellipsis where some are not.
func gapped(levels []string, keep []bool) string {
	var b strings.Builder
	for i, l := range levels {
		switch {
		case keep[i] && i > 0 && keep[i-1]:
			b.WriteString("/" + l)
		case keep[i]:
			b.WriteString(l)
		case keep[i-1]: // the first is always kept
			b.WriteString("…")
		}
	}
	return b.String()
}

// Letters shortens a cell's group: of three or more letters that follow each
// other the first and the last stand for all, so that "bcde" is "b-e".
func Letters(group string) string {
	var b strings.Builder
	r := []rune(group)
	for i := 0; i < len(r); {
		k := i
		for k+1 < len(r) && r[k+1] == r[k]+1 {
			k++
		}
		switch b.WriteRune(r[i]); {
		case k > i+1:
			b.WriteRune('-')
			b.WriteRune(r[k])
		case k > i:
			b.WriteRune(r[k])
		}
		i = k + 1
	}
	return b.String()
}
