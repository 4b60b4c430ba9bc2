package words

import (
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
