package workload

import "slices"

// Commands are the programs that a workload from a file serves and runs, each
// on one line with its arguments as the file has them. Of the built-in ones it
// is echo that runs a program of the image's; the others have none.
func (w Workload) Commands() []string {
	if w.file == nil {
		return w.builtin
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
