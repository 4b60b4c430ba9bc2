package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

func featureClaim(group string, have *record.Features) *analyze.FeatureClaim {
	out := &analyze.FeatureClaim{Group: group}
	tried := map[string]bool{}
	for _, f := range published.Features() {
		if f.Group != group {
			continue
		}
		for _, engine := range published.FeatureEngines() {
			out.Cells++
			cell, ours, ok := featureCell(have, f.Name, engine)
			if !ok || cell.Value == record.FeatureUntried {
				continue
			}
			tried[engine] = true
			theirs := f.Cells[engine]
			d := analyze.FeatureDifference{Feature: f.Name, Engine: ours, Here: string(cell.Value), Published: theirs, Why: cell.Why, Lacking: cell.Lacking}
			if cell.LeavesOpen(theirs) {
				out.Undecided = append(out.Undecided, d)
				continue
			}
			out.Tried++
			out.Engines = analyze.Also(out.Engines, ours)
			if d.Here == theirs {
				out.Equal++
			} else {
				out.Differ = append(out.Differ, d)
			}
		}
	}
	for _, engine := range published.FeatureEngines() {
		if !tried[engine] {
			out.Untried = append(out.Untried, published.Here(engine))
		}
	}
	return out
}

// differingEngines are what the paper had otherwise than the engines whose cells a verdict
// rests on.
func differingEngines(c *record.Claim, f *analyze.FeatureClaim) []record.StandIn {
	return lists.Filter(c.Differs, func(s record.StandIn) bool {
		return slices.ContainsFunc(s.Of["engine"], func(e string) bool { return slices.Contains(f.Engines, e) })
	})
}

// featureCell finds the cell of a published engine under the name that the
// engine has here.
func featureCell(have *record.Features, feature, engine string) (cell record.FeatureCell, ours string, ok bool) {
	if have == nil {
		return cell, "", false
	}
	for _, r := range have.Rows {
		if !strings.EqualFold(r.Feature, feature) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(r.Cells)) {
			if published.Engine(name) == engine {
				return r.Cells[name], name, true
			}
		}
	}
	return cell, "", false
}

// featureVerdict is that of the group: each cell is a claim, and one that differs
// contradicts the table. A cell that this machine leaves open is in neither verdict.
func featureVerdict(f *analyze.FeatureClaim, have *record.Features) (analyze.ClaimVerdict, string) {
	open := undecided(f)
	switch {
	case have == nil:
		return analyze.ClaimNotTested, "There is no feature table of the engines here: plimsoll features -o DIR fills one by trying."
	case f.Tried == 0 && open != "":
		return analyze.ClaimNotTested, fmt.Sprintf("None of the %d cells is decided here.", f.Cells) + open
	case f.Tried == 0:
		return analyze.ClaimNotTested, fmt.Sprintf("None of the %d cells was tried here.", f.Cells)
	case len(f.Differ) == 0 && f.Tried == 1:
		return analyze.ClaimSupported, fmt.Sprintf("The only cell that was tried here (of %d) is as published.", f.Cells) + open
	case len(f.Differ) == 0:
		return analyze.ClaimSupported, fmt.Sprintf("All %d cells that were tried here (of %d) are as published.", f.Tried, f.Cells) + open
	}
	const shown = 3
	var names []string
	for i, d := range f.Differ {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(f.Differ)-shown))
			break
		}
		names = append(names, fmt.Sprintf("%s with %s is %s here", d.Feature, d.Engine, d.Here))
	}
	return analyze.ClaimContradicted, fmt.Sprintf("Not as published: %d of the %d cells that were tried here (of %d): %s.", len(f.Differ), f.Tried, f.Cells, strings.Join(names, "; ")) + open
}

// undecided says which cells are left open, and for want of what, as a sentence behind another.
func undecided(f *analyze.FeatureClaim) string {
	var by analyze.Grouped[[2]string, string] // engines by what is lacking and by feature
	for _, d := range f.Undecided {
		by.Add([2]string{d.Lacking, d.Feature}, d.Engine)
	}
	var parts []string
	for k, engines := range by.All() {
		parts = append(parts, fmt.Sprintf("%s with %s can't be tried here: %s", k[1], strings.Join(engines, ", "), k[0]))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" %d left undecided: %s.", len(f.Undecided), strings.Join(parts, "; "))
}
