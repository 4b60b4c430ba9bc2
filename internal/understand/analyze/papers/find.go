package papers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// find looks for the cell that stands for a published engine, image and row:
// an environment with the levels that the study names, and none beside them. Of
// several images the first that has a value is taken.
func (p *pairing) find(engine, image *record.PaperColumn, row *record.PaperRow) (*analyze.Workload, *analyze.Table, *analyze.Cell, string) {
	levels := maps.Clone(engine.Levels)
	choices := []map[string][]string{levels}
	if image != nil {
		choices = nil
		for _, one := range each(image.Levels) {
			m := maps.Clone(levels)
			maps.Copy(m, one)
			choices = append(choices, m)
		}
	}
	var whys []string
	for _, want := range choices {
		w, t, c, why := p.findOne(want, row)
		if c != nil {
			return w, t, c, ""
		}
		whys = append(whys, why)
	}
	// The last choice is the one that is likeliest to be had: its reason tells,
	// unless nobody asked for it.
	for _, why := range slices.Backward(whys) {
		if why != analyze.NotAsked {
			return nil, nil, nil, why
		}
	}
	return nil, nil, nil, analyze.NotAsked
}

// each lists the levels of a choice one by one; of several factors, in step.
func each(levels map[string][]string) []map[string][]string {
	var out []map[string][]string
	n := 0
	for _, l := range levels {
		n = max(n, len(l))
	}
	for i := range n {
		m := map[string][]string{}
		for f, l := range levels {
			m[f] = l[min(i, len(l)-1):][:1]
		}
		out = append(out, m)
	}
	return out
}

func (p *pairing) findOne(want map[string][]string, row *record.PaperRow) (*analyze.Workload, *analyze.Table, *analyze.Cell, string) {
	why := ""
	for i := range p.res.Workloads {
		w := &p.res.Workloads[i]
		if w.Name != row.Workload || !hasParams(w.Params, row.Params) {
			continue
		}
		left := want
		// A workload may be handed the image instead of its environment.
		if param, ok := w.Params["image"]; ok && want["image"] != nil {
			if !slices.Contains(want["image"], param) {
				continue
			}
			left = maps.Clone(want)
			delete(left, "image")
		}
		t := w.Table(row.Metric)
		for _, e := range p.res.Environments {
			if t == nil || !fits(e.Engine, e.Levels, left) {
				continue
			}
			c := t.Cell(e.ID)
			if c == nil {
				continue
			}
			if c.Median != nil {
				return w, t, c, ""
			}
			if c.Missing != analyze.NotAsked || why == "" {
				why = p.because(w, e.ID, c.Missing)
			}
		}
	}
	if why == "" || why == analyze.NotAsked {
		for _, x := range p.run.Excluded {
			if x.Workload == "" && fits(x.Engine, x.Levels, want) || x.Workload == "" && fits(x.Engine, x.Levels, without(want, "image")) {
				return nil, nil, nil, x.Reason
			}
		}
		return nil, nil, nil, analyze.NotAsked
	}
	return nil, nil, nil, why
}

// because adds to a missing cell what its trials failed of.
func (p *pairing) because(w *analyze.Workload, env, missing string) string {
	for _, n := range w.Counts {
		if n.Env == env && n.Failed > 0 && n.Failed == n.Trials && len(n.Classes) > 0 {
			return fmt.Sprintf("every trial failed (%s: %s)", n.Classes[0].Class, n.Classes[0].Text)
		}
	}
	for _, kind := range []string{"unavailable: ", "impossible: "} {
		missing = strings.TrimPrefix(missing, kind)
	}
	return missing
}

// fits says whether an environment has the levels that are wanted, and none
// that are not spoken of: nothing else stands in silently.
func fits(engine string, levels map[string]string, want map[string][]string) bool {
	for f, l := range levels {
		if _, spoken := want[f]; !spoken && l != analyze.ClaimDefault {
			return false
		}
	}
	for f, ok := range want {
		level := levels[f]
		switch {
		case f == analyze.ClaimEngine:
			level = engine
		case level == "":
			level = analyze.ClaimDefault
		}
		if !slices.Contains(ok, level) {
			return false
		}
	}
	return true
}

func without(levels map[string][]string, factor string) map[string][]string {
	out := maps.Clone(levels)
	delete(out, factor)
	return out
}

func hasParams(params, want map[string]string) bool {
	for k, v := range want {
		if params[k] != v {
			return false
		}
	}
	return true
}
