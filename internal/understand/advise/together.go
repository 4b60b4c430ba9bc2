package advise

import (
	"slices"
	"strings"
)

// Together puts commands together that differ in their --engine alone, and
// gives each once, in the order in which they come first.
func Together(commands []string) []string {
	const flag = " --engine "
	type command struct {
		text    string
		engines []string
	}
	var all []command
	for _, c := range commands {
		text, engine, _ := strings.Cut(c, flag)
		if strings.Contains(engine, " ") { // it goes on
			text, engine = c, ""
		}
		if text == "" {
			continue
		}
		i := slices.IndexFunc(all, func(o command) bool { return o.text == text && (o.engines == nil) == (engine == "") })
		if i < 0 {
			i = len(all)
			all = append(all, command{text: text})
		}
		if engine != "" && !slices.Contains(all[i].engines, engine) {
			all[i].engines = append(all[i].engines, engine)
		}
	}
	var out []string
	for _, c := range all {
		if c.engines != nil {
			c.text += flag + strings.Join(c.engines, ",")
		}
		out = append(out, c.text)
	}
	return out
}
