package plot

import (
	"fmt"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// maxLines is how many lines one panel may have; beyond it each engine gets
// panels of its own.
const maxLines = 8

// lineGroup are the lines of one panel.
type lineGroup struct {
	title string
	envs  []int
}

// byGroup shares environments out to panels: one where they are few, else one
// for each engine or, where it has more than there are dashes, several.
func byGroup(d *view.Data, l []look, envs []int) []lineGroup {
	if len(envs) <= maxLines {
		return []lineGroup{{envs: envs}}
	}
	var out []lineGroup
	var members analyze.Grouped[int, int]
	for _, e := range envs {
		members.Add(l[e].group, e)
	}
	for g, list := range members.All() {
		title := "baselines"
		if g >= 0 {
			title = words.Clean(d.Envs[list[0]].Group)
		}
		n := (len(list) + len(dashes) - 1) / len(dashes)
		for i := range n {
			part := list[i*len(list)/n : (i+1)*len(list)/n]
			one := lineGroup{title: title, envs: part}
			if n > 1 {
				one.title += fmt.Sprintf(", %d of %d", i+1, n)
			}
			out = append(out, one)
		}
	}
	return out
}
