package hosts

import (
	"slices"

	"plimsoll/internal/record"
)

// Group are the places of the records of one machine each, under the machine's label.
type Group struct {
	Label string
	At    []int
}

// Groups puts records of one machine together, in the order in which machines come.
func Groups(machines []record.Host, by By) []Group {
	var groups []Group
	var taken []Host
	for i, m := range machines {
		at := slices.IndexFunc(groups, func(g Group) bool {
			return slices.ContainsFunc(g.At, func(k int) bool { return sameHost(machines[k], m, by) })
		})
		if at < 0 {
			l := label(m.Name, taken)
			groups, taken = append(groups, Group{Label: l}), append(taken, Host{Label: l})
			at = len(groups) - 1
		}
		groups[at].At = append(groups[at].At, i)
	}
	return groups
}

// Count is how many machines records are of.
func Count(machines []record.Host, by By) int { return len(Groups(machines, by)) }
