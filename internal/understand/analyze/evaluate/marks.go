package evaluate

import (
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// mark says of every pair of the rankings in what else the two differ, but
// for pairs with a baseline.
func mark(a *audit.Audit, works []analyze.Workload) {
	memo := map[[2]string][]string{}
	for w := range works {
		for t := range works[w].Tables {
			pairs := works[w].Tables[t].Pairs
			for i := range pairs {
				key := [2]string{pairs[i].A, pairs[i].B}
				also, ok := memo[key]
				if !ok {
					also = a.Beyond(key[0], key[1])
					memo[key] = also
				}
				pairs[i].Also = also
			}
		}
	}
}
