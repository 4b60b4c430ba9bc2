package analyze

import (
	"slices"
	"strings"
)

// ellipsis stands for what a narrow screen leaves out of a name.
const ellipsis = "…"

// Whole gives the ids of environments that are named as a screen abbreviates them, with
// an ellipsis: what is on the screen can be pasted. A word that fits none, or several,
// stays, and is then told from those that are known.
func (r *Result) Whole(names []string) []string {
	out := slices.Clone(names)
	for i, name := range out {
		if !strings.Contains(name, ellipsis) {
			continue
		}
		fit := ""
		for _, e := range r.Environments {
			switch {
			case !abbreviates(name, e.ID):
			case fit != "":
				fit = name
			default:
				fit = e.ID
			}
		}
		if fit != "" {
			out[i] = fit
		}
	}
	return out
}

// abbreviates says whether a name with ellipses is short for an id: its parts stand there
// in their order, from the beginning to the end.
func abbreviates(name, id string) bool {
	parts := strings.Split(name, ellipsis)
	rest, ok := strings.CutPrefix(id, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}
