package workload

import "slices"

// Commands are the programs that a workload from a file serves and runs, each
// on one line with its arguments as the file has them. The built-in workloads
// have none.
func (w Workload) Commands() []string {
	if w.file == nil {
		return nil
	}
	var out []string
	for _, r := range w.file.allRoles() {
		for _, c := range slices.Concat(r.Serve, []command{r.Run}) {
			if s := c.text(); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}
