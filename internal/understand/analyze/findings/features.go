package findings

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
			out.Tried++
			if string(cell.Value) == f.Cells[engine] {
				out.Equal++
				continue
			}
			out.Differ = append(out.Differ, analyze.FeatureDifference{Feature: f.Name, Engine: ours, Here: string(cell.Value), Published: f.Cells[engine], Why: cell.Why})
		}
	}
	for _, engine := range published.FeatureEngines() {
		if !tried[engine] {
			out.Untried = append(out.Untried, published.Here(engine))
		}
	}
	return out
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
// contradicts the table.
func featureVerdict(f *analyze.FeatureClaim, have *record.Features) (analyze.ClaimVerdict, string) {
	switch {
	case have == nil:
		return analyze.ClaimNotTested, "There is no feature table of the engines here: plimsoll features -o DIR fills one by trying."
	case f.Tried == 0:
		return analyze.ClaimNotTested, fmt.Sprintf("None of the %d cells was tried here.", f.Cells)
	case len(f.Differ) == 0:
		return analyze.ClaimSupported, fmt.Sprintf("All %d cells that were tried here (of %d) are as published.", f.Tried, f.Cells)
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
	return analyze.ClaimContradicted, fmt.Sprintf("Not as published: %d of the %d cells that were tried here (of %d): %s.", len(f.Differ), f.Tried, f.Cells, strings.Join(names, "; "))
}
