package study

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	papers "plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/findings"
)

// No claim on features is supported or contradicted by a cell that its paper did not have, or
// by one that a machine can't try: of all other engines, of rows that came since and of what is
// lacking here, none moves a verdict, whatever it says.
func TestFeatureClaimsAreDecidedByTheirs(t *testing.T) {
	cat := market()
	claims := 0
	for _, all := range bundledClaims(t) {
		require.NoError(t, standIns(all, cat))
		for _, c := range all {
			if c.Features == "" {
				continue
			}
			claims++
			t.Run(c.ID, func(t *testing.T) { decidedByTheirs(t, cat, c) })
		}
	}
	if claims < 5 {
		t.Errorf("only %d claims are on features", claims)
	}
}

func decidedByTheirs(t *testing.T, cat *Catalogue, c record.Claim) {
	table := asPublished(cat)
	judge := func() analyze.Finding { return findings.Judge(nil, []record.Claim{c}, table).Claims[0] }
	whole := judge()
	if whole.Verdict != analyze.ClaimSupported || whole.Partly || whole.Features.Tried != whole.Features.Cells {
		t.Fatalf("as published it is %s (partly %v): %s", whole.Verdict, whole.Partly, whole.Reason)
	}
	if len(whole.Differs) != 1 || whole.Differs[0].Paper != "Singularity" {
		t.Errorf("of the engine's successor it is told %+v", whole.Differs)
	}
	theirs, others := 0, 0
	for _, r := range table.Rows {
		for _, engine := range slices.Sorted(maps.Keys(r.Cells)) {
			was := r.Cells[engine]
			published := publishedCell(r, engine)
			own := r.Group == c.Features && published != ""
			for _, v := range []record.FeatureValue{record.FeatureYes, record.FeaturePartial, record.FeatureNo, record.FeatureUntried} {
				r.Cells[engine] = record.FeatureCell{Value: v}
				f := judge()
				switch {
				case !own:
					others++
					if text(t, f) != text(t, whole) {
						t.Fatalf("%s of %s is %s: %s: %s", r.Feature, engine, v, f.Verdict, f.Reason)
					}
				case v == record.FeatureUntried:
					if f.Verdict != analyze.ClaimSupported || !f.Partly || f.Features.Tried != whole.Features.Tried-1 {
						t.Errorf("%s of %s was not tried: %s (partly %v)", r.Feature, engine, f.Verdict, f.Partly)
					}
				default:
					theirs++
					if (f.Verdict == analyze.ClaimContradicted) != (string(v) != published) {
						t.Errorf("%s of %s is %s, published %s: %s", r.Feature, engine, v, published, f.Verdict)
					}
				}
			}
			if own && published != "no" {
				r.Cells[engine] = record.FeatureCell{Value: record.FeaturePartial, Lacking: "there is no GPU"}
				f := judge()
				if f.Verdict != analyze.ClaimSupported || !f.Partly || len(f.Features.Undecided) != 1 || f.Features.Tried != whole.Features.Tried-1 {
					t.Errorf("%s of %s can't be tried: %s (partly %v), %+v", r.Feature, engine, f.Verdict, f.Partly, f.Features)
				}
			}
			r.Cells[engine] = was
		}
	}
	if theirs < 2*len(papers.FeatureEngines()) || others < 100 {
		t.Errorf("%d values of theirs and %d of others were tried", theirs, others)
	}
	// Without any cell of Apptainer's there is no successor to tell of, and nothing but what
	// can't be tried decides nothing.
	for _, r := range table.Rows {
		delete(r.Cells, "apptainer")
	}
	if f := judge(); len(f.Differs) > 0 {
		t.Errorf("without Apptainer it is told %+v", f.Differs)
	}
	for _, r := range table.Rows {
		for engine, cell := range r.Cells {
			if publishedCell(r, engine) != "" {
				cell.Value, cell.Lacking = record.FeatureNo, "there is nothing here"
			}
			r.Cells[engine] = cell
		}
	}
	if f := judge(); f.Verdict != analyze.ClaimNotTested || f.Features.Tried != 0 || len(f.Differs) > 0 {
		t.Errorf("nothing can be tried, and it is %s: %s", f.Verdict, f.Reason)
	}
}

func text(t *testing.T, f analyze.Finding) string {
	data, err := json.Marshal(f)
	require.NoError(t, err)
	return string(data)
}

// asPublished is a table of every engine that there is, with rows of every group that no paper
// has; what a paper has is as it has it.
func asPublished(cat *Catalogue) *record.Features {
	f := &record.Features{Schema: record.FeaturesSchema}
	groups := map[string]bool{}
	add := func(row record.FeatureRow) {
		row.Cells = map[string]record.FeatureCell{}
		for _, e := range cat.Engines {
			row.Cells[e.Name] = record.FeatureCell{Value: record.FeatureNo}
			if p := publishedCell(row, e.Name); p != "" {
				row.Cells[e.Name] = record.FeatureCell{Value: record.FeatureValue(p)}
			}
		}
		f.Rows = append(f.Rows, row)
	}
	for _, p := range papers.Features() {
		add(record.FeatureRow{Group: p.Group, Feature: p.Name})
		if !groups[p.Group] {
			groups[p.Group] = true
			add(record.FeatureRow{Group: p.Group, Feature: "Newer than " + p.Name})
		}
	}
	return f
}

// publishedCell is what the paper has, or "".
func publishedCell(r record.FeatureRow, engine string) string {
	for _, p := range papers.Features() {
		if p.Name == r.Feature {
			return p.Cells[papers.Engine(engine)]
		}
	}
	return ""
}
