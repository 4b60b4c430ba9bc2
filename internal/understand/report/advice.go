package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
)

var adviceFormats = formatsOf[*advise.Advice]{
	{"text", adviceText},
	{"markdown", func(w io.Writer, a *advise.Advice, _ Options) error { return adviceMarkdown(w, a) }},
	{"json", asJSON[*advise.Advice]},
}

// AdviceFormats lists the formats of WriteAdvice.
func AdviceFormats() []string { return adviceFormats.names() }

// WriteAdvice renders an advice in a format.
func WriteAdvice(w io.Writer, format string, a *advise.Advice, opts Options) error {
	return adviceFormats.write(w, format, "an advice", a, opts)
}

// marked is a line of a list: what speaks for (+), against (−), is not known
// (?), or none of these.
type marked struct {
	mark, text string
	advice     string // what to do, on a line of its own
}

// adviceList is a list with its title, and what to do about several of its
// lines.
type adviceList struct {
	title  string
	lines  []marked
	advice []string
}

// adviceTitle names the use.
func adviceTitle(a *advise.Advice) string {
	return fmt.Sprintf("Advice for %s: %s", clean(a.Profile.Name), clean(a.Profile.Title))
}

// adviceRuns names what it rests on.
func adviceRuns(a *advise.Advice) string {
	var parts []string
	for _, r := range a.Runs {
		parts = append(parts, fmt.Sprintf("run %s of %s, %s, %s", clean(r.ID), clean(r.Study), Plural(r.Blocks, "block"), r.Started.UTC().Format("2006-01-02 15:04 MST")))
	}
	s := "From " + strings.Join(parts, "; ")
	if a.Features != nil {
		s += "; the feature table made on " + clean(firstOf(a.Features.Host, "an unknown machine"))
	}
	return s + "."
}

// verdictSentences say who comes first, as far as that is known.
func verdictSentences(a *advise.Advice) []string {
	v := a.Verdict
	names := clean(strings.Join(v.Leaders, ", "))
	var s string
	switch {
	case v.Outcome == advise.First:
		s = fmt.Sprintf("%s comes first, told apart from all others that could be ranked.", names)
	case v.Outcome == advise.Tie && v.Practical:
		s = fmt.Sprintf("Either will do: %s differ by less than %s, from which on it matters here.", names, percentText(a.Profile.Matters))
	case v.Outcome == advise.Tie:
		s = fmt.Sprintf("Cannot tell which of %s comes first.", names)
	case v.Outcome == advise.Nobody:
		s = "Nobody can be ranked."
	case len(v.Leaders) == 1:
		s = fmt.Sprintf("Cannot tell: by what is measured, which bears %.0f %% of the weight, %s comes first.", 100*v.Measured, names)
	case len(v.Leaders) > 1:
		s = fmt.Sprintf("Cannot tell: by what is measured, which bears %.0f %% of the weight, one of %s comes first.", 100*v.Measured, names)
	default:
		s = "Cannot tell: no criterion is measured of any environment that may be chosen."
	}
	out := []string{s}
	for _, w := range v.Why {
		out = append(out, sentence(upperFirst(clean(w))))
	}
	return out
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// criterionName names a criterion for a sentence.
func criterionName(a *advise.Advice, i int) string {
	return clean(firstOf(a.Criteria[i].Metric.Title, a.Criteria[i].Metric.ID)) + " of " + workloadName(a, i)
}

// workloadName is the workload without its parameters, unless there are others
// of it.
func workloadName(a *advise.Advice, i int) string {
	c := a.Criteria[i]
	for _, o := range a.Criteria {
		if o.Name == c.Name && o.Workload != c.Workload {
			return clean(c.Workload)
		}
	}
	return clean(c.Name)
}

// adviceCriteria says what counts, how much and why.
func adviceCriteria(a *advise.Advice) adviceList {
	l := adviceList{title: "What counts"}
	for _, c := range a.Criteria {
		share := "not measured"
		if c.Missing == "" {
			share = fmt.Sprintf("%.0f %%", 100*c.Share)
		}
		l.lines = append(l.lines, marked{text: fmt.Sprintf("%s of %s, %s, weight %.3g (%s). %s", clean(firstOf(c.Metric.Title, c.Metric.ID)), clean(c.Workload), better(record.Metric{Better: c.Better}), c.Weight, share, clean(c.Why))})
	}
	for _, d := range a.Profile.Require {
		l.lines = append(l.lines, marked{mark: "!", text: "Required: " + clean(strings.Join(d.Is, " or ")) + ". " + sentence(upperFirst(clean(d.Why)))})
	}
	return l
}

// adviceGrid is the ranking.
func adviceGrid(a *advise.Advice) *grid {
	g := &grid{cols: []col{{title: "environment"}, {}, {title: "score"}, {title: "dominated by"}, {title: "first\nplaces, %", right: true}}}
	var medians [][]string
	for i, c := range a.Criteria {
		if c.Missing != "" {
			continue
		}
		var values []float64
		at := len(g.cols) - 5
		for _, r := range a.Ranked {
			values = append(values, r.Measured[at].Median.Value)
		}
		u := scaleFor(c.Metric.Unit, values)
		var column []string
		for _, r := range a.Ranked {
			column = append(column, numberOf(r.Measured[at].Median, u.by, 3).value+standMark[r.Measured[at].Stand])
		}
		medians = append(medians, align(column))
		arrow := ""
		if a.Criteria[i].Better == record.HigherIsBetter {
			arrow = " ↑"
		}
		g.cols = append(g.cols, col{title: cut(workloadName(a, i), maxName/2) + "\n" + clean(firstOf(c.Metric.Title, c.Metric.ID)) + arrow + ", " + u.unit})
	}
	var scores, intervals []string
	for _, r := range a.Ranked {
		n := numberOf(r.Score, 1, 3)
		scores, intervals = append(scores, n.value), append(intervals, n.interval)
	}
	scores = align(scores)
	for i, r := range a.Ranked {
		first := ""
		if a.Sensitivity != nil {
			first = fmt.Sprintf("%.0f", 100*a.Sensitivity.First[i].Share)
		}
		by := ""
		if !r.Front {
			by = nameOf(r.DominatedBy[0])
			if n := len(r.DominatedBy); n > 1 {
				by += fmt.Sprintf(" and %d more", n-1)
			}
		}
		cells := []string{nameOf(r.Env), r.Group, strings.TrimSpace(scores[i] + " " + intervals[i]), by, first}
		for _, m := range medians {
			cells = append(cells, m[i])
		}
		g.rows = append(g.rows, row{cells: cells})
	}
	return g
}

var standMark = map[advise.Stand]string{advise.For: " +", advise.Against: " −"}

// adviceLegend explains the ranking.
func adviceLegend(a *advise.Advice) []string {
	ref := map[string]bool{}
	var refs []string
	for _, c := range a.Criteria {
		if c.Reference != "" && !ref[c.Reference] {
			ref[c.Reference] = true
			refs = append(refs, map[string]string{advise.MeanReference: "the mean of those ranked"}[c.Reference]+strings.TrimPrefix(c.Reference, advise.MeanReference))
		}
	}
	s := fmt.Sprintf("score: how many times worse than %s, the weighted geometric mean over the criteria; lower is better. Brackets: 95 %% intervals, from whole blocks. ", strings.Join(refs, " or "))
	s += fmt.Sprintf("Environments that share a letter cannot be told apart (paired t test within blocks, Holm over %s, 5 %%). ", Plural(len(a.Pairs), "pair"))
	s += fmt.Sprintf("dominated by: surely no better in any criterion and worse in one, by more than %s; empty: on the Pareto front. ", percentText(a.Profile.Matters))
	s += "+ among the best, − among the worst; of a property: fact, what the engine says of the environment; inside, what the payload saw (plimsoll report DIR --audit shows both); features, what was found by trying the engine."
	if a.Sensitivity != nil {
		s += " first places: over random weights around the given ones, by the estimates as they stand."
	}
	return []string{s}
}
