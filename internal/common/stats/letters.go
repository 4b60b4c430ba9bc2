package stats

import "slices"

// Letters is the compact letter display: groups of items none of which can be
// told from another of its group, as few and as large as possible. Item i
// bears letter k where groups[k] holds i. Items are numbered in the order of
// the ranking, and so are the groups. (Insert and absorb: Piepho 2004,
// J. Computational and Graphical Statistics 13, 456–466.)
func Letters(n int, differs func(i, j int) bool) [][]int {
	if n == 0 {
		return nil
	}
	all := make([]bool, n)
	for i := range all {
		all[i] = true
	}
	groups := [][]bool{all}
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
		out = append(out, members(g))
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// maxGroups bounds the work: contrived results can have exponentially many
// groups, which nobody could read.
const maxGroups = 500

// split replaces each group that holds both i and j by one without i and one
// without j.
func split(groups [][]bool, i, j int) [][]bool {
	var out [][]bool
	for _, g := range groups {
		if !g[i] || !g[j] {
			out = append(out, g)
			continue
		}
		h := slices.Clone(g)
		g[j], h[i] = false, false
		out = append(out, g, h)
	}
	return out
}

// absorb drops groups that lie within another.
func absorb(groups [][]bool) [][]bool {
	var out [][]bool
	for i, g := range groups {
		inside := false
		for j, h := range groups {
			if i != j && within(g, h) && (!within(h, g) || j < i) {
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

func within(g, h []bool) bool {
	for i := range g {
		if g[i] && !h[i] {
			return false
		}
	}
	return true
}

func members(g []bool) []int {
	var m []int
	for i, in := range g {
		if in {
			m = append(m, i)
		}
	}
	return m
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
