package study

import (
	"maps"
	"slices"

	"plimsoll/internal/record"
)

// united is what the parts of a study come to together: each environment and
// each workload once.
type united struct {
	all    []combination
	asked  []bool         // whether a part asks for it, or it is a baseline that was added
	when   []map[int]when // of each: in which blocks which workload runs
	inPart [][]int        // of each part: its combinations, in order
	works  [][]int        // of each part: its workloads
	part   []int          // its number in the study: skipped ones have none here
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
				u.all, u.asked, u.when = append(u.all, c), append(u.asked, false), append(u.when, map[int]when{})
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

// idsOf are the ids of entries that stand for one environment each.
func (u *united) idsOf(s *Study, cat *Catalogue, entries []Entry, names []string) []string {
	out := make([]string, len(entries))
	engines := views(cat)
	for i := range entries {
		part := Part{Environments: entries[i : i+1]}
		for _, c := range combine(s, &part, cat, engines, map[string]bool{}, func(record.Remark) {}) {
			for k := range u.all {
				if u.all[k].identity() == c.identity() {
					out[i] = names[k]
				}
			}
		}
	}
	return out
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
func (u *united) addWorkloads(p *Plan, s *Study, cat *Catalogue, j *judge) {
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
				for _, k := range slices.Sorted(maps.Keys(c.params)) {
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
	u.dropIdle(p, s, cat, j)
	for k, part := range u.part {
		for _, env := range u.inPart[k] {
			for _, w := range u.works[k] {
				u.when[env][w] = s.Parts[part].when(s.Protocol).with(u.when[env], w)
			}
		}
	}
}

// dropIdle takes the baselines that were added out of the parts in which none of
// the workloads can run in them: nobody has asked for them there.
func (u *united) dropIdle(p *Plan, s *Study, cat *Catalogue, j *judge) {
	for k, part := range u.part {
		if s.Parts[part].Name == "" {
			continue
		}
		u.inPart[k] = slices.DeleteFunc(u.inPart[k], func(i int) bool {
			return !u.asked[i] && !slices.ContainsFunc(u.works[k], func(w int) bool {
				rw := p.Workloads[w]
				return j.cell(&u.all[i], cat.workload(rw.Name), rw.Params).kind == ""
			})
		})
	}
}

// when is in which blocks something occurs: in how many counted ones, of which
// 0 is all, and whether in those to warm up.
type when struct {
	blocks   int
	unwarmed bool
}

func (p *Part) when(of record.Protocol) when {
	if p.Blocks >= of.Fixed() {
		return when{0, p.Unwarmed}
	}
	return when{p.Blocks, p.Unwarmed}
}

// with adds the blocks in which another part has the same.
func (a when) with(others map[int]when, key int) when {
	b, ok := others[key]
	if !ok {
		return a
	}
	a.unwarmed = a.unwarmed && b.unwarmed
	if a.blocks == 0 || b.blocks == 0 {
		a.blocks = 0
	} else {
		a.blocks = max(a.blocks, b.blocks)
	}
	return a
}

// parts describes the parts for the record; nil where the study has none.
func (u *united) parts(s *Study, names []string, p *Plan) []record.Part {
	if len(s.Parts) == 1 && s.Parts[0].Name == "" {
		return nil
	}
	var out []record.Part
	k := 0
	for _, part := range s.Parts {
		r := record.Part{Name: part.Name, Title: part.Title, Blocks: part.when(p.Protocol).blocks, Unwarmed: part.Unwarmed, Skipped: part.Skipped}
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
