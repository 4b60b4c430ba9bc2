package yamlfile

import (
	"slices"
	"strings"
)

// Nearest gives the valid word that is nearest to what was written, by edit
// distance with transpositions, or "" where none is near: more than a third
// of the letters wrong is another word, not a slip.
func Nearest(word string, valid []string) string {
	const longest = 64
	if word == "" || len(word) > longest {
		return ""
	}
	w := strings.ToLower(word)
	// YAML's own booleans are the commonest slip for the levels yes and no.
	if slip, ok := map[string]string{"true": "yes", "false": "no"}[w]; ok {
		if slices.Contains(valid, slip) {
			return slip
		}
	}
	best, at := "", max(1, len(w)/3)+1
	for _, v := range valid {
		if d := distance(w, strings.ToLower(v)); d < at {
			best, at = v, d
		}
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and transpositions of neighbours cost 1 each.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
