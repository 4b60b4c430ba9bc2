package study

import (
	"maps"
	"slices"
	"strings"
)

// Environments are called by their engine and by the levels that tell them
// apart, as in docker/cli/crun: a level that is the common one, or that is the
// engine's default and does not vary among this engine's environments in the
// study, is left out. So is "default" where nothing else is usual: docker
// stands beside docker/crun.

// ids gives every combination its id: short, readable and unique.
func ids(s *Study, cat *Catalogue, all []combination) []string {
	varies := varying(all)
	common := make(map[*view][]string)
	for _, c := range all {
		if common[c.engine] == nil {
			common[c.engine] = commonHere(s, cat, c.engine)
		}
	}
	out := make([]string, len(all))
	count := make(map[string]int, len(all))
	for i, c := range all {
		out[i] = c.id(cat, common[c.engine], varies[c.engine], token)
		count[out[i]]++
	}
	for i, c := range all {
		// Two factors may have levels of the same name.
		if count[out[i]] > 1 {
			out[i] = c.id(cat, common[c.engine], varies[c.engine], longToken)
		}
	}
	return out
}

// commonHere gives by factor the common level as far as the engine has it.
func commonHere(s *Study, cat *Catalogue, engine *view) []string {
	out := make([]string, len(cat.Factors))
	for i, f := range cat.Factors {
		if common := s.Common[f]; common != "" && engine.knows(f, common) {
			out[i] = engine.resolve(f, common)
		}
	}
	return out
}

// varying says for each engine which factors (by number) have more than one
// level in force among its combinations.
func varying(all []combination) map[*view][]bool {
	first := map[*view]*combination{}
	out := map[*view][]bool{}
	for i := range all {
		c := &all[i]
		if first[c.engine] == nil {
			first[c.engine] = c
			out[c.engine] = make([]bool, len(c.named))
		}
		for f := range c.named {
			if c.level(f) != first[c.engine].level(f) {
				out[c.engine][f] = true
			}
		}
	}
	return out
}

func (c *combination) id(cat *Catalogue, common []string, varies []bool, token func(factor, level string) string) string {
	parts := make([]string, 1, 8)
	parts[0] = c.engine.Name
	for i, f := range cat.Factors {
		level, usual := c.level(i), c.engine.usual[i]
		if common[i] != "" {
			usual = common[i]
			if level == usual {
				continue
			}
		}
		if level != usual || varies[i] && level != defaultLevel {
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
var vague = map[string]bool{"default": true, "none": true, "host": true, "on": true, "off": true, "v1": true, "v2": true, "hybrid": true}

// token gives a level's word in an id: the level itself where that is clear,
// else with its factor: rootless and rootful for yes and no, likewise privileged
// and unprivileged, network-none, seccomp-off.
func token(factor, level string) string {
	// An id is part of file names, and of an overlay's option in which ':' parts
	// directories; '=' parts a name from a value elsewhere.
	level = strings.NewReplacer("/", "-", ":", "-", "@", "-", "=", "-").Replace(level)
	if factor == memoryFactor { // names of images are lower case
		level = strings.ToLower(level)
	}
	switch {
	case factor == "rootless" && level == "no":
		return "rootful"
	case slices.Contains(joinedFactors, factor), boundFactors[factor] != "":
		return factor + "-" + level
	case factor == "privileged" && level == "no":
		return "unprivileged"
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
func workloadID(info *WorkloadInfo, params map[string]string, levels map[string][]string) string {
	parts := []string{info.Name}
	for _, p := range slices.Sorted(maps.Keys(params)) {
		if len(levels[p]) > 1 || params[p] != info.Parameters[p][0] {
			parts = append(parts, token(p, params[p]))
		}
	}
	return strings.Join(parts, "/")
}
