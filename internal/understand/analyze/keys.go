package analyze

import (
	"maps"
	"slices"
)

func pick(values ...float64) float64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// distinct keeps the first of each.
func distinct(x []string) []string {
	var out []string
	for _, v := range x {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// sortedKeys are the keys of all the maps.
func sortedKeys(all ...map[string]string) []string {
	set := map[string]bool{}
	for _, m := range all {
		for k := range m {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
