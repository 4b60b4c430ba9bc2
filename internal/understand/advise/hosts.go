package advise

import (
	"cmp"
	"slices"
)

// ByHost is the advice for one use on each of several hosts.
type ByHost struct {
	Schema int          `json:"schema"`
	Hosts  []HostAdvice `json:"hosts"`
	Places []Places     `json:"places"`
	// Everywhere are the environments that lead on all hosts, alone or with others.
	Everywhere []string `json:"everywhere"`
	// Alone: on each host Everywhere leads, and nobody else does.
	Alone bool `json:"alone"`
}

// HostAdvice is the advice by the runs of one host.
type HostAdvice struct {
	Label  string  `json:"label"`
	Advice *Advice `json:"advice"`
}

// Places are those of one environment on all hosts.
type Places struct {
	Env string `json:"env"`
	// Hosts are in the order of ByHost.Hosts: the place from 1, 0 where it is not ranked.
	Hosts []int `json:"hosts"`
	// Leads counts the hosts on which all criteria are measured and nothing is surely
	// better, Ranked those on which it is ranked.
	Leads  int `json:"leads"`
	Ranked int `json:"ranked"`
}

// Hosts sets the advice of several hosts side by side. Scores of two hosts are never
// put into one: which engine fits is a matter of each machine.
func Hosts(all []HostAdvice) *ByHost {
	out := &ByHost{Schema: Schema, Hosts: all, Places: []Places{}, Everywhere: []string{}, Alone: true}
	for i, h := range all {
		for k, r := range h.Advice.Ranked {
			at := slices.IndexFunc(out.Places, func(p Places) bool { return p.Env == r.Env })
			if at < 0 {
				at = len(out.Places)
				out.Places = append(out.Places, Places{Env: r.Env, Hosts: make([]int, len(all))})
			}
			p := &out.Places[at]
			p.Hosts[i] = k + 1
			p.Ranked++
			if v := h.Advice.Verdict; (v.Outcome == First || v.Outcome == Tie) && slices.Contains(v.Leaders, r.Env) {
				p.Leads++
			}
		}
		out.Alone = out.Alone && h.Advice.Verdict.Outcome == First
	}
	slices.SortStableFunc(out.Places, func(a, b Places) int {
		return cmp.Or(b.Leads-a.Leads, a.sum(len(out.Places))-b.sum(len(out.Places)))
	})
	for _, p := range out.Places {
		if p.Leads == len(all) {
			out.Everywhere = append(out.Everywhere, p.Env)
		}
	}
	out.Alone = out.Alone && len(out.Everywhere) == 1
	return out
}

// sum adds the places up; where it is not ranked, it comes behind all.
func (p Places) sum(last int) (n int) {
	for _, k := range p.Hosts {
		if k == 0 {
			k = last + 1
		}
		n += k
	}
	return n
}
