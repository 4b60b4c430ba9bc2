package study

import (
	"slices"

	"plimsoll/internal/record"
)

// ForClaims says which cells a claim needs: they may be in further blocks than
// the fixed ones. It must come before a trial has run.
func (p *Plan) ForClaims(needs func(*record.Environment, *record.Workload) bool) {
	for i := range p.Cells {
		c := &p.Cells[i]
		c.Further = needs(&p.Environments[c.Env], &p.Workloads[c.Workload])
	}
	p.cache.clear()
}

// Only leaves what some claims need in a plan: of each part the environments and
// the workloads, each with each, so that a resumed run finds the same from its
// record. What runs keeps its name. Of what can't run, what they do not need is
// no longer named.
func (p *Plan) Only(claims []record.Claim, needs func(*record.Environment, *record.Workload) bool) {
	var parts []record.Part
	type cell struct{ env, workload string }
	stays := map[cell]bool{}
	whole := len(p.Study.Parts) == 0
	from := p.Study.Parts
	if whole {
		all := record.Part{}
		for i := range p.Environments {
			all.Environments = append(all.Environments, p.Environments[i].ID)
		}
		for i := range p.Workloads {
			all.Workloads = append(all.Workloads, p.Workloads[i].ID)
		}
		from = []record.Part{all}
	}
	envs, works := map[string]*record.Environment{}, map[string]*record.Workload{}
	for i := range p.Environments {
		envs[p.Environments[i].ID] = &p.Environments[i]
	}
	for _, x := range p.Excluded {
		if envs[x.ID] == nil {
			envs[x.ID] = &record.Environment{ID: x.ID, Engine: x.Engine, Levels: x.Levels}
		}
	}
	for i := range p.Workloads {
		works[p.Workloads[i].ID] = &p.Workloads[i]
	}
	needed := func(env, work string) bool {
		return envs[env] != nil && works[work] != nil && needs(envs[env], works[work])
	}
	for _, part := range from {
		all := part
		part.Environments = slices.DeleteFunc(slices.Clone(part.Environments), func(e string) bool {
			return !slices.ContainsFunc(all.Workloads, func(w string) bool { return needed(e, w) })
		})
		part.Workloads = slices.DeleteFunc(slices.Clone(part.Workloads), func(w string) bool {
			return !slices.ContainsFunc(all.Environments, func(e string) bool { return needed(e, w) })
		})
		if len(part.Environments) == 0 || len(part.Workloads) == 0 {
			continue
		}
		for _, e := range part.Environments {
			for _, w := range part.Workloads {
				stays[cell{e, w}] = true
			}
		}
		parts = append(parts, part)
	}
	p.Study.Parts = parts
	if whole {
		p.Study.Parts = nil
	}
	p.Study.Claims, p.Study.Only = claims, nil
	for _, c := range claims {
		p.Study.Only = append(p.Study.Only, c.ID)
	}
	p.keep(func(env, work string) bool { return stays[cell{env, work}] })
}

// keep leaves the cells that stay in a plan, with their environments and
// workloads.
func (p *Plan) keep(stays func(env, work string) bool) {
	any := func(env string) bool {
		return slices.ContainsFunc(p.Workloads, func(w record.Workload) bool { return stays(env, w.ID) })
	}
	p.Excluded = slices.DeleteFunc(slices.Clone(p.Excluded), func(x record.Excluded) bool {
		return x.Workload == "" && !any(x.ID) || x.Workload != "" && !stays(x.ID, x.Workload)
	})
	oldEnvs, oldWorks, oldCells := p.Environments, p.Workloads, p.Cells
	p.Environments, p.Workloads, p.Cells = nil, nil, nil
	envAt, workAt := map[int]int{}, map[int]int{}
	usedEnv, usedWork := map[int]bool{}, map[int]bool{}
	for _, c := range oldCells {
		if stays(oldEnvs[c.Env].ID, oldWorks[c.Workload].ID) {
			usedEnv[c.Env], usedWork[c.Workload] = true, true
		}
	}
	for i := range oldEnvs {
		if usedEnv[i] {
			envAt[i] = len(p.Environments)
			p.Environments = append(p.Environments, oldEnvs[i])
		}
	}
	for i := range oldWorks {
		if usedWork[i] {
			workAt[i] = len(p.Workloads)
			p.Workloads = append(p.Workloads, oldWorks[i])
		}
	}
	for _, c := range oldCells {
		if stays(oldEnvs[c.Env].ID, oldWorks[c.Workload].ID) {
			c.Env, c.Workload = envAt[c.Env], workAt[c.Workload]
			p.Cells = append(p.Cells, c)
		}
	}
	p.cache.clear()
}
