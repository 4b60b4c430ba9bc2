package stats

import (
	"slices"
	"strconv"
)

// Letters is the compact letter display: groups of items none of which can be
// told from another of its group, as few and as large as possible. Item i
// bears letter k where groups[k] holds i. Items are numbered in the order of
// the ranking, and so are the groups. (Insert and absorb: Piepho 2004,
// J. Computational and Graphical Statistics 13, 456–466.)
func Letters(n int, differs func(i, j int) bool) [][]int {
	if n == 0 {
		return nil
	}
	all := make(set, (n+63)/64)
	for i := range n {
		all[i/64] |= 1 << (i % 64)
	}
	groups := []set{all}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if differs(i, j) {
				groups = absorb(split(groups, i, j))
			}
			if len(groups) > maxGroups {
				return runs(n, differs)
			}
		}
	}
	out := make([][]int, 0, len(groups))
	for _, g := range groups {
		out = append(out, g.members(n))
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// Letter names the k-th group: a…z, A…Z, then numbers in brackets.
func Letter(k int) string {
	const abc = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if k < len(abc) {
		return abc[k : k+1]
	}
	return "[" + strconv.Itoa(k+1) + "]"
}

// maxGroups bounds the work: contrived results can have exponentially many
// groups, which nobody could read.
const maxGroups = 500

// set has a bit for each item: of 60 environments all are in one word, and there may be
// hundreds of groups for each of 1770 pairs.
type set []uint64

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// without is a copy that lacks an item.
func (s set) without(i int) set {
	out := slices.Clone(s)
	out[i/64] &^= 1 << (i % 64)
	return out
}

// within says whether all that is in s is in t.
func (s set) within(t set) bool {
	for w := range s {
		if s[w]&^t[w] != 0 {
			return false
		}
	}
	return true
}

func (s set) members(n int) []int {
	var m []int
	for i := range n {
		if s.has(i) {
			m = append(m, i)
		}
	}
	return m
}

// split replaces each group that holds both i and j by one without i and one
// without j.
func split(groups []set, i, j int) []set {
	var out []set
	for _, g := range groups {
		if !g.has(i) || !g.has(j) {
			out = append(out, g)
			continue
		}
		out = append(out, g.without(j), g.without(i))
	}
	return out
}

// absorb drops groups that lie within another.
func absorb(groups []set) []set {
	var out []set
	for i, g := range groups {
		inside := false
		for j, h := range groups {
			if i != j && g.within(h) && (!h.within(g) || j < i) {
				inside = true
				break
			}
		}
		if !inside {
			out = append(out, g)
		}
	}
	return out
}

// runs is the coarser display for contrived cases: the longest stretches of
// the ranking in which no two differ.
func runs(n int, differs func(i, j int) bool) [][]int {
	var out [][]int
	end := 0
	for i := range n {
		j := i + 1
		for j < n && !anyDiffers(i, j, differs) {
			j++
		}
		if j > end {
			var g []int
			for k := i; k < j; k++ {
				g = append(g, k)
			}
			out, end = append(out, g), j
		}
	}
	return out
}

// anyDiffers says whether j differs from any of i…j−1.
func anyDiffers(i, j int, differs func(i, j int) bool) bool {
	for k := i; k < j; k++ {
		if differs(k, j) {
			return true
		}
	}
	return false
}
