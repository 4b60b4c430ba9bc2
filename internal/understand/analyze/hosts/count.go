package hosts

import (
	"slices"

	"plimsoll/internal/record"
)

// Count is how many machines records are of.
func Count(machines []record.Host, by By) int {
	var groups [][]record.Host
	for _, m := range machines {
		at := slices.IndexFunc(groups, func(g []record.Host) bool {
			return slices.ContainsFunc(g, func(x record.Host) bool { return sameHost(x, m, by) })
		})
		if at < 0 {
			groups = append(groups, []record.Host{m})
			continue
		}
		groups[at] = append(groups[at], m)
	}
	return len(groups)
}
