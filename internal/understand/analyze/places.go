package analyze

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Places are the first and the last place that an environment may hold in a
// ranking, from 1 on.
type Places struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// String writes a range of places, "" where there is none.
func (p *Places) String() string {
	switch {
	case p == nil:
		return ""
	case p.First == p.Last:
		return strconv.Itoa(p.First)
	}
	return fmt.Sprintf("%d–%d", p.First, p.Last)
}

// place fills in the places that environments may hold beside one another: behind
// all that are better, and before all that are worse, by the pairs whose p is
// below 5 % after Holm's correction. All places hold together with 95 %, since all
// pairs do. Baselines hold none, unless nothing else ran: they are what the others
// are held against. A range never steps back on the way down the ranking: it is
// widened until it does not, and a wider one holds as well.
func (t *Table) place(envs []record.Environment) {
	base := map[string]bool{}
	for _, e := range envs {
		base[e.ID] = e.Baseline != ""
	}
	only := !slices.ContainsFunc(t.Ranking, func(e string) bool { return !base[e] })
	n := lists.Count(t.Ranking, func(e string) bool { return only || !base[e] })
	better, worse := map[string]int{}, map[string]int{}
	for _, p := range t.Pairs {
		if !only && (base[p.A] || base[p.B]) || p.Holm == nil || !(*p.Holm < sample.Alpha) {
			continue
		}
		first, second := p.A, p.B
		if (p.Value > 1) != (t.Metric.Better == record.HigherIsBetter) {
			first, second = second, first
		}
		worse[first]++
		better[second]++
	}
	for i := range t.Cells {
		c := &t.Cells[i]
		if c.Places = nil; c.Median != nil && (only || !base[c.Env]) {
			c.Places = &Places{1 + better[c.Env], n - worse[c.Env]}
		}
	}
	t.widen()
}

// widen makes the first and the last places follow the order of the ranking. The medians
// and the pairs within blocks may order two environments differently, and ranges that
// stand out of order are taken for a mistake.
func (t *Table) widen() {
	var down []*Places
	for _, e := range t.Ranking {
		if p := t.Cell(e).Places; p != nil {
			down = append(down, p)
		}
	}
	for i := 1; i < len(down); i++ {
		down[i].Last = max(down[i].Last, down[i-1].Last)
	}
	for i := len(down) - 2; i >= 0; i-- {
		down[i].First = min(down[i].First, down[i+1].First)
	}
}
