package study

import (
	"slices"

	"plimsoll/internal/record"
)

// united is what the parts of a study come to together: each environment and
// each workload once.
type united struct {
	all    []combination
	asked  []bool        // whether a part asks for it, or it is a baseline that was added
	blocks []map[int]int // of each: in how many blocks which workload runs; 0 is in all
	inPart [][]int       // of each part: its combinations, in order
	works  [][]int       // of each part: its workloads
	part   []int         // its number in the study: skipped ones have none here
	s      *Study
}

// unite gathers the environments of all parts, the baselines first.
func unite(s *Study, cat *Catalogue, remark func(record.Remark)) *united {
	cat = cat.with(s.own)
	u := &united{s: s}
	engines, missed := views(cat), map[string]bool{}
	var added, asked [][]combination
	for i := range s.Parts {
		if s.Parts[i].Skipped != "" {
			continue
		}
		u.part = append(u.part, i)
		mine := combine(s, &s.Parts[i], cat, engines, missed, remark)
		added = append(added, missingBaselines(s, &s.Parts[i], cat, engines, mine, remark))
		asked = append(asked, mine)
	}
	index := map[string]int{}
	take := func(list []combination, ask bool) (places []int) {
		for _, c := range list {
			key := c.identity()
			i, ok := index[key]
			if !ok {
				i = len(u.all)
				index[key] = i
				u.all, u.asked, u.blocks = append(u.all, c), append(u.asked, false), append(u.blocks, map[int]int{})
			}
			u.asked[i] = u.asked[i] || ask
			places = append(places, i)
		}
		return places
	}
	for k := range added {
		u.inPart = append(u.inPart, take(added[k], false))
	}
	for k := range asked {
		u.inPart[k] = append(u.inPart[k], take(asked[k], true)...)
	}
	return u
}

// in says whether a combination is one of those that the study was published
// with.
func (u *united) in(i int, p *Published) bool {
	if p == nil || p.Part == "" {
		return u.asked[i]
	}
	for k, part := range u.part {
		if u.s.Parts[part].Name == p.Part && slices.Contains(u.inPart[k], i) {
			return u.asked[i]
		}
	}
	return false
}

// addWorkloads lists every choice of parameters of every part as a workload of
// the plan, each once, and which combination runs it in how many blocks.
func (u *united) addWorkloads(p *Plan, s *Study, cat *Catalogue) {
	cat = cat.with(s.own)
	type choice struct {
		info   *WorkloadInfo
		params map[string]string
	}
	var list []choice
	index := map[string]int{}
	for _, i := range u.part {
		var mine []int
		for w := range s.Parts[i].Workloads {
			work := &s.Parts[i].Workloads[w]
			info := cat.workload(work.Name)
			each(work.Parameters, func(levels []string) {
				c := choice{info, info.choose(work, levels, s.Protocol.SmallSizes)}
				key := c.info.Name
				for _, k := range keys(c.params) {
					key += "\n" + c.params[k]
				}
				at, ok := index[key]
				if !ok {
					at = len(list)
					index[key] = at
					list = append(list, c)
				}
				mine = append(mine, at)
			})
		}
		u.works = append(u.works, mine)
	}
	levels := map[*WorkloadInfo]map[string][]string{}
	for _, c := range list {
		if levels[c.info] == nil {
			levels[c.info] = map[string][]string{}
		}
		for k, v := range c.params {
			if of := levels[c.info]; !slices.Contains(of[k], v) {
				of[k] = append(of[k], v)
			}
		}
	}
	for _, c := range list {
		rw := record.Workload{ID: workloadID(c.info, c.params, levels[c.info]), Name: c.info.Name, Title: c.info.Title, Metrics: c.info.metrics(c.params)}
		rw.File, rw.Source = c.info.path, c.info.Source
		if len(c.params) > 0 {
			rw.Params = c.params
		}
		p.Workloads = append(p.Workloads, rw)
	}
	for k, part := range u.part {
		for _, env := range u.inPart[k] {
			for _, w := range u.works[k] {
				before, ok := u.blocks[env][w]
				u.blocks[env][w] = moreBlocks(before, s.Parts[part].blocks(s.Protocol), !ok)
			}
		}
	}
}

// blocks is in how many counted blocks a part occurs, 0 where that is all.
func (p *Part) blocks(of record.Protocol) int {
	if p.Blocks >= of.Blocks {
		return 0
	}
	return p.Blocks
}

// moreBlocks is the larger of two numbers of blocks, of which 0 is all.
func moreBlocks(a, b int, first bool) int {
	switch {
	case first:
		return b
	case a == 0 || b == 0:
		return 0
	}
	return max(a, b)
}

// parts describes the parts for the record; nil where the study has none.
func (u *united) parts(s *Study, names []string, p *Plan) []record.Part {
	if len(s.Parts) == 1 && s.Parts[0].Name == "" {
		return nil
	}
	var out []record.Part
	k := 0
	for _, part := range s.Parts {
		r := record.Part{Name: part.Name, Title: part.Title, Blocks: part.blocks(p.Protocol), Skipped: part.Skipped}
		if part.Skipped == "" {
			for _, i := range u.inPart[k] {
				r.Environments = append(r.Environments, names[i])
			}
			for _, w := range u.works[k] {
				r.Workloads = append(r.Workloads, p.Workloads[w].ID)
			}
			k++
		}
		out = append(out, r)
	}
	return out
}

// choose gives every parameter its level: what is named, else the small one
// where small sizes are asked for, else the default.
func (w *WorkloadInfo) choose(named *Workload, levels []string, small bool) map[string]string {
	params := map[string]string{}
	for name, known := range w.Parameters {
		params[name] = known[0]
		if s, ok := w.Small[name]; ok && small {
			params[name] = s
		}
	}
	for j, l := range levels {
		params[named.Parameters[j].Name] = l
	}
	return params
}
