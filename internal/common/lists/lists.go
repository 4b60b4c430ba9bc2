// Package lists does what the standard library's slices leave to a loop: it says what
// becomes of each of a list, of which something holds, and of how many.
//
// It is opinionated: of nothing it makes nil, as a loop does that appends.
package lists

import "slices"

// Map is what becomes of each.
func Map[T, U any](list []T, of func(T) U) []U {
	out := slices.Grow([]U(nil), len(list))
	for _, x := range list {
		out = append(out, of(x))
	}
	return out
}

// Try is what becomes of each, or the first error.
func Try[T, U any](list []T, of func(T) (U, error)) ([]U, error) {
	var out []U
	for _, x := range list {
		y, err := of(x)
		if err != nil {
			return nil, err
		}
		out = append(out, y)
	}
	return out, nil
}

// Filter are those of which this holds.
func Filter[T any](list []T, holds func(T) bool) []T {
	var out []T
	for _, x := range list {
		if holds(x) {
			out = append(out, x)
		}
	}
	return out
}

// Count is of how many this holds.
func Count[T any](list []T, holds func(T) bool) int {
	n := 0
	for _, x := range list {
		if holds(x) {
			n++
		}
	}
	return n
}
