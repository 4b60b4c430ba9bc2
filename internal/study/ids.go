package study

import "strings"

// Environments are called by their engine and by the levels that tell them
// apart, as in docker/cli/crun: a level that is the common one, or that is the
// engine's default and does not vary among this engine's environments in the
// study, is left out. So is "default" where nothing else is usual: docker
// stands beside docker/crun.

// ids gives every combination its id: short, readable and unique.
func ids(s *Study, cat *Catalogue, all []combination) []string {
	varies := varying(cat, all)
	out := make([]string, len(all))
	count := make(map[string]int, len(all))
	for i, c := range all {
		out[i] = c.id(s, cat, varies[c.engine.Name], token)
		count[out[i]]++
	}
	for i, c := range all {
		// Two factors may have levels of the same name.
		if count[out[i]] > 1 {
			out[i] = c.id(s, cat, varies[c.engine.Name], longToken)
		}
	}
	return out
}

// varying says for each engine which factors (by number) have more than one
// level in force among its combinations.
func varying(cat *Catalogue, all []combination) map[string][]bool {
	first := map[string][]string{}
	out := map[string][]bool{}
	for _, c := range all {
		levels := first[c.engine.Name]
		if levels == nil {
			levels = make([]string, len(cat.Factors))
			for i, f := range cat.Factors {
				levels[i] = c.engine.resolve(f, c.named[i])
			}
			first[c.engine.Name] = levels
			out[c.engine.Name] = make([]bool, len(cat.Factors))
			continue
		}
		for i, f := range cat.Factors {
			if levels[i] != c.engine.resolve(f, c.named[i]) {
				out[c.engine.Name][i] = true
			}
		}
	}
	return out
}

func (c *combination) id(s *Study, cat *Catalogue, varies []bool, token func(factor, level string) string) string {
	parts := []string{c.engine.Name}
	for i, f := range cat.Factors {
		level := c.engine.resolve(f, c.named[i])
		usual := c.engine.resolve(f, "")
		if common := s.Common[f]; common != "" && c.engine.knows(f, common) {
			usual = c.engine.resolve(f, common)
			if level == usual {
				continue
			}
		}
		if level != usual || varies[i] && level != DefaultLevel {
			parts = append(parts, token(f, level))
		}
	}
	id := strings.Join(parts, "/")
	if c.alias != "" {
		id += "@" + c.alias
	}
	return id
}

// vague are levels that say nothing without their factor.
var vague = map[string]bool{"default": true, "none": true, "host": true, "on": true, "off": true}

// token gives a level's word in an id: the level itself where that is clear,
// else with its factor: rootless and rootful for yes and
// no, network-none, seccomp-off.
func token(factor, level string) string {
	switch {
	case factor == "rootless" && level == "no":
		return "rootful"
	case level == "yes":
		return factor
	case level == "no":
		return "no-" + factor
	case vague[level] || level[0] >= '0' && level[0] <= '9':
		return factor + "-" + level
	}
	return level
}

func longToken(factor, level string) string { return factor + "=" + level }

// workloadID calls a workload by its name and by those parameters that vary in
// the study or that are not the default.
func workloadID(w *Workload, info *WorkloadInfo, params map[string]string) string {
	parts := []string{w.Name}
	for _, p := range keys(params) {
		varies := false
		for _, a := range w.Parameters {
			varies = varies || a.Name == p && len(a.Levels) > 1
		}
		if varies || params[p] != info.Parameters[p][0] {
			parts = append(parts, token(p, params[p]))
		}
	}
	return strings.Join(parts, "/")
}
