package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// found are the findings to write, or one of their claims.
type found struct {
	*analyze.Findings
	one *analyze.Finding
}

var findingFormats = kindOf("findings", findingsDocument,
	jsonOf(func(f found) *analyze.Findings { return f.Findings }),
	format[found]{"csv", asCSV(findingsCSV)},
)

// FindingFormats lists the formats of WriteFindings.
func FindingFormats() []string { return findingFormats.Formats() }

// WriteFindings renders which claims hold. With a claim, one of them with all
// of its pairs.
func WriteFindings(w io.Writer, format string, f *analyze.Findings, claim string, opts Options) error {
	wanted := found{Findings: f}
	if claim != "" {
		var err error
		if wanted.one, err = f.Claim(claim); err != nil {
			return err
		}
		only := *f
		only.Claims = []analyze.Finding{*wanted.one}
		wanted.Findings = &only
	}
	return findingFormats.Write(w, format, wanted, opts)
}

// verdictWords are for people.
var verdictWords = map[analyze.ClaimVerdict]string{analyze.ClaimNotTested: "not tested"}

func verdictWord(v analyze.ClaimVerdict) string {
	return cmp.Or(verdictWords[v], string(v))
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
	count := func(v analyze.ClaimVerdict) string { return fmt.Sprintf("%d %s", f.Count(v), verdictWord(v)) }
	counts := lists.Map(analyze.ClaimVerdicts, count)
	var studies []string
	for _, c := range f.Claims {
		s, _, _ := strings.Cut(c.ID, "/")
		studies = analyze.Also(studies, words.Clean(s))
	}
	return "Findings of " + words.List(studies) + ": " + strings.Join(counts, ", ")
}

// findingsLegend says what the columns are, and who published what.
func findingsLegend(f *analyze.Findings) []string {
	out := []string{"here: the pair that decides, A over B or A alone, over blocks with its " + intervalLevels(f.Claims) + " interval. A claim is contradicted when a whole interval " +
		"lies outside the range that it states (Holm's correction over its pairs), else inconclusive when one reaches over a bound, else supported."}
	var sources []string
	for _, c := range f.Claims {
		for _, p := range c.Published {
			sources = analyze.Also(sources, citation(p.Source))
		}
	}
	if len(sources) > 0 {
		out = append(out, "published: in quotation marks, as "+words.List(sources)+"; measured there and not here.")
	}
	return out
}

// intervalLevels are those of the intervals: of runs that were looked at more than once
// they are higher, so that all looks together err as seldom as one.
func intervalLevels(claims []analyze.Finding) string {
	var out []string
	for i := range claims {
		for k := range claims[i].Pairs {
			out = analyze.Also(out, fmt.Sprintf("%.3g %%", 100*cmp.Or(claims[i].Pairs[k].Level, 0.95)))
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		return "95 %"
	}
	return strings.Join(out, " or ")
}

// citation names a study by its authors, with its address.
func citation(key string) string {
	s, ok := published.SourceOf(key)
	if !ok {
		return words.Clean(key)
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
	who := words.List(s.Authors)
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
	unit, e := words.Unit{Name: "×", By: 1}, *p.Estimate
	switch {
	case p.Unit == "":
	case p.Unit == "percent":
		unit.Name = "%"
	default:
		unit = words.UnitFor(p.Unit, []float64{e.Value})
	}
	n := words.NumberOf(e, unit.By, 6)
	return strings.TrimSpace(n.Value + " " + words.Clean(unit.Name) + " " + n.Interval)
}

// hereOf is what was found: the pair that decides, or how many cells of the
// feature table are as published, and how many are undecided beside these.
func hereOf(c *analyze.Finding) string {
	if c.Features == nil || c.Features.Tried == 0 {
		return pairNumber(c.Decides)
	}
	s := fmt.Sprintf("%d of %s", c.Features.Equal, words.Plural(c.Features.Tried, "cell"))
	if n := len(c.Features.Undecided); n > 0 {
		s += fmt.Sprintf(", %d undecided", n)
	}
	return s
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
			out = append(out, words.Clean(p.Text))
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
		out = append(out, words.Clean(strings.Join(parts, " "))+" "+words.Short(*p.Value)+" "+words.Clean(p.Unit))
	}
	return `"` + strings.Join(out, "; ") + `"`
}

// sourcesOf names the tables of a claim's published numbers.
func sourcesOf(list []analyze.PublishedNumber) string {
	var out []string
	for _, p := range list {
		s := words.Clean(p.Source)
		if src, ok := published.SourceOf(p.Source); ok {
			s = cite(src)
		}
		if p.Table != "" {
			s += ", " + words.Clean(p.Table)
		}
		out = analyze.Also(out, s)
	}
	return strings.Join(out, "; ")
}

// without lists what a claim names and what was not measured. Environments and engines
// that lack for one reason stand before it together, each once.
func without(lacks []analyze.ClaimLack) string {
	type key struct{ why, other string }
	var whats analyze.Grouped[key, string]
	for _, l := range lacks {
		k, ids := key{why: words.Clean(l.Brief())}, strings.Split(words.Prose(l.What), ", ")
		if slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(id, " ") }) { // it is no list of them
			k.other, ids = words.Prose(l.What), []string{words.Prose(l.What)}
		}
		for _, id := range ids {
			if !slices.Contains(whats.Of(k), id) {
				whats.Add(k, id)
			}
		}
	}
	var out []string
	for k, of := range whats.All() {
		out = append(out, strings.Join(of, ", ")+" ("+k.why+")")
	}
	return strings.Join(out, "; ")
}

// notAsInPaper says what is not as in the paper, and is in the verdict all the same.
func notAsInPaper(list []record.StandIn) string { return notAsInPaperOf(lists.Map(list, differing)) }

func notAsInPaperOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return words.Sentence("Not as in the paper, and judged all the same: " + strings.Join(list, "; "))
}

func differing(s record.StandIn) string {
	return words.Clean(s.Aspect) + ", " + words.Clean(s.Here) + " (the paper: " + words.Clean(s.Paper) + ")"
}

// lines are the sentences below a claim's row: what it says, what the verdict
// rests on, and why it may be so. In brief the second only where a reader asks.
func lines(c *analyze.Finding, brief bool) []string {
	out := []string{words.Prose(c.Says)}
	if !brief || c.Verdict != analyze.ClaimSupported && c.Verdict != analyze.ClaimNotTested {
		out = append(out, words.Prose(c.Reason))
	}
	if s := notAsInPaper(c.Differs); s != "" {
		out = append(out, s)
	}
	if brief {
		return out
	}
	if s := fromRuns(c); s != "" {
		out = append(out, s)
	}
	if len(c.Without) > 0 && c.Verdict != analyze.ClaimNotTested {
		out = append(out, words.Sentence("Without "+without(c.Without)))
	}
	if c.Why == "" {
		return out
	}
	out = append(out, "Why? "+words.Prose(c.Why))
	for i := range c.Answers {
		if a := &c.Answers[i]; a.Verdict != analyze.ClaimNotTested {
			out = append(out, "→ "+words.Prose(claimAnswer(a)))
		}
	}
	for _, x := range untested(c.Answers) {
		out = append(out, "→ "+x)
	}
	return out
}

// untested says which command gives the data for answers that have none, each
// once, and what they lack.
func untested(answers []analyze.Answer) []string {
	const shown = 2
	var lacks analyze.Grouped[string, analyze.ClaimLack] // by command
	var out []string
	for i := range answers {
		a := &answers[i]
		if a.Verdict == analyze.ClaimNotTested && a.Failed != "" {
			what, _, _ := strings.Cut(a.Failed, ". (") // behind it stands what a step said
			out = append(out, "Not answered here, since every trial failed: "+words.Sentence(words.Clean(what)))
		}
		if a.Command == "" {
			continue
		}
		lacks.Add(a.Command)
		for _, l := range a.Without {
			if have := lacks.Of(a.Command); len(have) < shown && !slices.Contains(have, l) {
				lacks.Add(a.Command, l)
			}
		}
	}
	for command, some := range lacks.All() {
		text := "Not asked here"
		if s := without(some); s != "" {
			text += ": " + s
		}
		out = append(out, text+". To ask: "+words.Clean(command))
	}
	return out
}

// fromRuns says which runs a verdict rests on, where there are several.
func fromRuns(c *analyze.Finding) string {
	if len(c.Runs) == 0 {
		return ""
	}
	s := "By run " + words.Clean(words.List(c.Runs))
	switch {
	case len(c.Older) > 0 && len(c.Runs) > 1: // one may be older of some pairs, and count for others
		s += ": of a pair that several have, the newest counts"
	case len(c.Older) > 0:
		s += ", which is newer than " + words.Clean(words.List(c.Older))
	}
	return s + "."
}

// claimAnswer is an answer with the number that it rests on.
func claimAnswer(a *analyze.Answer) string {
	if a.Decides == nil {
		return a.Text
	}
	more := ""
	if n := a.Decides.BlocksNeeded; n > 0 {
		more = fmt.Sprintf("; about %d blocks would tell", n)
	}
	return strings.TrimSuffix(a.Text, ".") + " (" + a.Decides.Title() + ": " + pairNumber(a.Decides) + more + ")."
}
