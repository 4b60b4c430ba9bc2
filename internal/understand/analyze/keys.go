package analyze

import (
	"maps"
	"slices"
)

// Positive is the first that is above 0, or 0.
func Positive(values ...float64) float64 {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// Distinct keeps the first of each.
func Distinct(x []string) []string { return Also[string](nil, x...) }

// Also appends what is not in a list yet.
func Also[T comparable](list []T, more ...T) []T {
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// SortedKeys are the keys of all the maps.
func SortedKeys(all ...map[string]string) []string {
	set := map[string]bool{}
	for _, m := range all {
		for k := range m {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Find is the first of which this holds, or nil.
func Find[T any](list []T, holds func(*T) bool) *T {
	for i := range list {
		if holds(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
