package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/published"
	"plimsoll/internal/understand/analyze"
)

// FindingFormats lists the formats of WriteFindings.
func FindingFormats() []string { return []string{"text", "markdown", "json", "csv"} }

// WriteFindings renders which claims hold. With a claim, one of them with all
// of its pairs.
func WriteFindings(w io.Writer, format string, f *analyze.Findings, claim string, opts Options) error {
	var one *analyze.Finding
	if claim != "" {
		var err error
		if one, err = f.Claim(claim); err != nil {
			return err
		}
		only := *f
		only.Claims = []analyze.Finding{*one}
		f = &only
	}
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(f)
	case "csv":
		return findingsCSV(w, f, one)
	case "markdown":
		return findingsMarkdown(w, f, one)
	case "text":
		return findingsText(w, f, one, opts)
	}
	return fmt.Errorf("no format %q for findings: choose one of %s", format, strings.Join(FindingFormats(), ", "))
}

// verdictWords are for people.
var verdictWords = map[analyze.ClaimVerdict]string{analyze.ClaimNotTested: "not tested"}

func verdictWord(v analyze.ClaimVerdict) string {
	return firstOf(verdictWords[v], string(v))
}

// verdictOf is a claim's, which may be of a part of it only.
func verdictOf(c *analyze.Finding) string {
	if c.Partly {
		return verdictWord(c.Verdict) + " in part"
	}
	return verdictWord(c.Verdict)
}

// findingsTitle counts the verdicts.
func findingsTitle(f *analyze.Findings) string {
	var counts, studies []string
	for _, v := range analyze.ClaimVerdicts {
		counts = append(counts, fmt.Sprintf("%d %s", f.Count(v), verdictWord(v)))
	}
	for _, c := range f.Claims {
		s, _, _ := strings.Cut(c.ID, "/")
		if !slices.Contains(studies, clean(s)) {
			studies = append(studies, clean(s))
		}
	}
	return "Findings of " + listOf(studies) + ": " + strings.Join(counts, ", ")
}

// findingsLegend says what the columns are, and who published what.
func findingsLegend(f *analyze.Findings) []string {
	out := []string{"here: the pair that decides, A over B or A alone, over blocks with its 95 % interval. A claim is contradicted when a whole interval " +
		"lies outside the range that it states (Holm's correction over its pairs), else inconclusive when one reaches over a bound, else supported."}
	var sources []string
	for _, c := range f.Claims {
		for _, p := range c.Published {
			if s := citation(p.Source); !slices.Contains(sources, s) {
				sources = append(sources, s)
			}
		}
	}
	if len(sources) > 0 {
		out = append(out, "published: in quotation marks, as "+listOf(sources)+"; measured there and not here.")
	}
	return out
}

// citation names a study by its authors, with its address.
func citation(key string) string {
	s, ok := published.SourceOf(key)
	if !ok {
		return clean(key)
	}
	return cite(s) + addressOf(s)
}

func addressOf(s published.Source) string {
	if u := s.URL(); u != "" {
		return ", " + u
	}
	return ""
}

// cite is a study's short name: its authors and its year.
func cite(s published.Source) string {
	who := listOf(s.Authors)
	if len(s.Authors) > 2 {
		who = s.Authors[0] + " et al."
	}
	return fmt.Sprintf("%s %d", who, s.Year)
}

// pairNumber is a pair's estimate with its interval.
func pairNumber(p *analyze.ClaimPair) string {
	if p == nil || p.Estimate == nil {
		return "-"
	}
	unit, e := scale{"×", 1}, *p.Estimate
	switch {
	case p.B == nil && p.Unit == "percent":
		unit.unit = "%"
	case p.B == nil:
		unit = scaleFor(p.Unit, []float64{e.Value})
	}
	n := numberOf(e, unit.by, 6)
	return strings.TrimSpace(n.value + " " + clean(unit.unit) + " " + n.interval)
}

// hereOf is what was found: the pair that decides, or how many cells of the
// feature table are as published.
func hereOf(c *analyze.Finding) string {
	if c.Features != nil && c.Features.Tried > 0 {
		return fmt.Sprintf("%d of %s", c.Features.Equal, Plural(c.Features.Tried, "cell"))
	}
	return pairNumber(c.Decides)
}

// quoted lists published numbers as a citation, the first ones where there are
// many: each by its engine and by whatever else tells it from the others.
func quoted(list []analyze.PublishedNumber, most int) string {
	if len(list) == 0 {
		return ""
	}
	differ := func(of func(analyze.PublishedNumber) string) bool {
		return slices.ContainsFunc(list, func(p analyze.PublishedNumber) bool { return of(p) != of(list[0]) })
	}
	images := differ(func(p analyze.PublishedNumber) string { return p.Image })
	works := differ(func(p analyze.PublishedNumber) string { return p.Workload })
	metrics := differ(func(p analyze.PublishedNumber) string { return p.Metric })
	var out []string
	for i, p := range list {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(list)-most))
			break
		}
		if p.Value == nil {
			out = append(out, clean(p.Text))
			continue
		}
		parts := []string{p.Engine}
		if p.Variant != "" {
			parts = append(parts, "("+p.Variant+")")
		}
		if images {
			parts = append(parts, p.Image)
		}
		if works {
			parts = append(parts, p.Workload)
		}
		if metrics {
			parts = append(parts, p.Metric)
		}
		out = append(out, clean(strings.Join(parts, " "))+" "+trimZeros(*p.Value)+" "+clean(p.Unit))
	}
	return `"` + strings.Join(out, "; ") + `"`
}

// sourcesOf names the tables of a claim's published numbers.
func sourcesOf(list []analyze.PublishedNumber) string {
	var out []string
	for _, p := range list {
		s := clean(p.Source)
		if src, ok := published.SourceOf(p.Source); ok {
			s = cite(src)
		}
		if p.Table != "" {
			s += ", " + clean(p.Table)
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, "; ")
}

// without lists what a claim names and what was not measured.
func without(lacks []analyze.ClaimLack) string {
	var out []string
	for _, l := range lacks {
		out = append(out, clean(l.What)+" ("+clean(l.Brief())+")")
	}
	return strings.Join(out, "; ")
}

// lines are the sentences below a claim's row: what it says, what the verdict
// rests on, and why it may be so. In brief the second only where a reader asks.
func lines(c *analyze.Finding, brief bool) []string {
	out := []string{prose(c.Says)}
	if brief && (c.Verdict == analyze.ClaimSupported || c.Verdict == analyze.ClaimNotTested) {
		return out
	}
	out = append(out, prose(c.Reason))
	if brief {
		return out
	}
	if len(c.Without) > 0 && c.Verdict != analyze.ClaimNotTested {
		out = append(out, sentence("Without "+without(c.Without)))
	}
	if c.Why == "" {
		return out
	}
	out = append(out, "Why? "+prose(c.Why))
	for i := range c.Answers {
		if a := &c.Answers[i]; a.Verdict != analyze.ClaimNotTested {
			out = append(out, "→ "+prose(claimAnswer(a)))
		}
	}
	return out
}

// claimAnswer is an answer with the number that it rests on.
func claimAnswer(a *analyze.Answer) string {
	if a.Decides == nil {
		return a.Text
	}
	return strings.TrimSuffix(a.Text, ".") + " (" + a.Decides.Title() + ": " + pairNumber(a.Decides) + ")."
}
