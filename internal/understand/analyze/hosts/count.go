package hosts

import (
	"os"
	"path/filepath"
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

// Told says how the records of runs are told apart where nobody has said it, and of how
// many hosts they are then: by their machines; but by their names where all are of one
// machine and one command has begun them as several hosts, which a ledger beside them
// tells. To the user who named them they are hosts, also if they are containers. dirs
// are where the runs lie.
func Told(machines []record.Host, dirs []string) (By, int) {
	n := Count(machines, ByMachine)
	if n < 2 && begunTogether(dirs) {
		return ByName, Count(machines, ByName)
	}
	return ByMachine, n
}

// begunTogether says whether there is such a ledger beside each of the runs.
func begunTogether(dirs []string) bool {
	for _, dir := range dirs {
		if _, err := os.Lstat(filepath.Join(dir, "..", record.HostsFile)); err != nil {
			return false
		}
	}
	return len(dirs) > 0
}
