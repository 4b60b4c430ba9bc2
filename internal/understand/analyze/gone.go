package analyze

import "plimsoll/internal/record"

// Gone are the cells that looks let leave.
func (r *Result) Gone() map[record.CellID]bool {
	out := map[record.CellID]bool{}
	for _, l := range r.Run.Looks {
		for _, c := range l.Cells {
			if c.Left {
				out[record.CellID{Env: c.Env, Workload: c.Workload}] = true
			}
		}
	}
	return out
}
