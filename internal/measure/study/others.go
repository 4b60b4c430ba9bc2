package study

import (
	"slices"

	"plimsoll/internal/common/yamlfile"
)

// theOthers stands, in a list of workloads or of environments, for everything of
// the catalogue that the list does not name: such a study has what is added
// later, too.
const theOthers = "others"

// otherWorkloads puts in the workloads that others stands for.
func (c *checker) otherWorkloads(list []workload) []workload {
	var named []string
	for _, w := range list {
		named = append(named, w.Name.Text)
	}
	var out []workload
	for _, w := range list {
		if w.Name.Text != theOthers {
			out = append(out, w)
			continue
		}
		if len(w.Parameters) > 0 {
			c.Add(w.at, "others has parameters", "others alone: each of them is as it is by default")
		}
		for _, name := range c.cat.workloadNames() {
			if !slices.Contains(named, name) {
				other := w
				other.Name.Text = name
				out = append(out, other)
			}
		}
	}
	return out
}

// otherEngines puts in the engines that others stands for: those that are no
// baselines, which a study has by another key, and not simulated.
func (c *checker) otherEngines(list []environment) []environment {
	var named []string
	for _, e := range list {
		for _, w := range e.Engine.List {
			named = append(named, w.Text)
		}
	}
	out := slices.Clone(list)
	for i, e := range out {
		at := slices.IndexFunc(e.Engine.List, func(w yamlfile.Word) bool { return w.Text == theOthers })
		if at < 0 {
			continue
		}
		words := slices.Clone(e.Engine.List[:at])
		for _, engine := range c.cat.Engines {
			if !engine.Baseline && !engine.Simulated && !slices.Contains(named, engine.Name) {
				words = append(words, yamlfile.Word{Text: engine.Name, At: e.Engine.List[at].At})
			}
		}
		out[i].Engine.List = slices.Concat(words, e.Engine.List[at+1:])
	}
	return out
}
