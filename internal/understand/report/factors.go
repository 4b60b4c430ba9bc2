package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/sample"
)

// FactorFormats lists the formats of WriteFactors.
func FactorFormats() []string { return []string{"text", "markdown", "json"} }

// WriteFactors renders what matters most.
func WriteFactors(w io.Writer, format string, res *analyze.Result, all []*factors.Factors, opts Options) error {
	switch format {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			Schema  int                `json:"schema"`
			Run     string             `json:"run"`
			Study   string             `json:"study"`
			Factors []*factors.Factors `json:"factors"`
		}{analyze.Schema, res.Run.ID, res.Run.Study, all})
	case "markdown":
		return factorsMarkdown(w, res, all)
	case "text":
		return factorsText(w, res, all, opts)
	}
	return fmt.Errorf("no format %q for factors: choose one of %s", format, strings.Join(FactorFormats(), ", "))
}

func factorsText(w io.Writer, res *analyze.Result, all []*factors.Factors, opts Options) error {
	p := newPage(w, opts)
	p.text("head", "", headline(res))
	p.text("", "", protocol(res))
	for _, f := range all {
		p.blank()
		p.text("head", "", factorsTitle(f))
		for _, s := range factorSentences(f) {
			p.text("", " - ", s)
		}
		if f.Missing == "" {
			p.blank()
			p.parts(factorGrid(f))
		}
		for _, s := range factorsLegend(f) {
			p.text("dim", "", s)
		}
	}
	return p.w.Flush()
}

func factorsMarkdown(w io.Writer, res *analyze.Result, all []*factors.Factors) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# What matters most: %s\n\n%s.\n", mdEscape(headline(res)), mdEscape(protocol(res)))
	for _, f := range all {
		fmt.Fprintf(out, "\n## %s\n\n", mdEscape(factorsTitle(f)))
		for _, s := range factorSentences(f) {
			fmt.Fprintf(out, "- %s\n", mdEscape(s))
		}
		fmt.Fprintln(out)
		if f.Missing == "" {
			mdGrid(out, factorGrid(f))
		}
		fmt.Fprintln(out, mdEscape(strings.Join(factorsLegend(f), " ")))
	}
	return out.Flush()
}

func factorsTitle(f *factors.Factors) string {
	return "What matters most for " + subject(f)
}

func subject(f *factors.Factors) string {
	return clean(f.Metric.Title) + " of " + clean(f.Workload)
}

// factorGrid has a row for each share, then what is left.
func factorGrid(f *factors.Factors) *grid {
	g := &grid{cols: []col{{title: "factor"}, {title: "share, %"}, {title: "alone, %", right: true}, {title: "partial, %", right: true}, {title: "levels"}}}
	var values, intervals []string
	add := func(name string, share *sample.Estimate, alone, partial, levels string) {
		g.rows = append(g.rows, row{cells: []string{name, "", alone, partial, levels}})
		n := number{value: "n/a"}
		if share != nil {
			n = numberOf(*share, 0.01, 1)
		}
		values, intervals = append(values, n.value), append(intervals, n.interval)
	}
	percent := func(v float64) string { return fixed(100*v, 1) }
	for _, s := range f.Shares {
		name, levels := clean(s.Factor), levelsOf(f, s.Factor)
		if s.With != "" {
			name, levels = name+" × "+clean(s.With), ""
		}
		partial := percent(s.Partial)
		if s.Separable == factors.Confounded {
			partial = "n/a"
		}
		add(name, s.Share, percent(s.Alone), partial, levels)
	}
	for _, j := range f.Joint {
		add(clean(strings.Join(j.Factors, " + ")), j.Share, "", "", "")
	}
	if f.Pairs != nil {
		add("(all pairs together)", f.Pairs, "", "", "")
	}
	add("(the rest between cells)", f.Rest, "", "", "")
	add("(noise)", f.Noise, "", "", "")
	for i, v := range align(values) {
		g.rows[i].cells[1] = strings.TrimRight(v+" "+intervals[i], " ")
	}
	return g
}

func levelsOf(f *factors.Factors, id string) string {
	for _, x := range f.Factors {
		if x.ID == id {
			return cut(clean(strings.Join(x.Levels, ", ")), 2*maxName)
		}
	}
	return ""
}

// factorsLegend says what the shares are of, and what is not among them.
func factorsLegend(f *factors.Factors) []string {
	var out []string
	if f.Missing == "" {
		s := fmt.Sprintf("share: ω² of the variance of the logarithm within blocks, over %d cells (%s, %s) in %d blocks that have all of them; "+
			"× is what two do together beyond each alone; partial: of the variance that no other row explains; alone: with nothing else counted.",
			f.Cells, Plural(len(f.Environments), "environment"), Plural(len(f.Workloads), "workload"), f.Blocks)
		if f.Noise != nil && f.Noise.Lo != nil {
			s += fmt.Sprintf(" Brackets: 95 %% intervals, from %d resamples of whole blocks.", f.Resamples)
		} else {
			s += " Fewer than 6 blocks carry no interval."
		}
		out = append(out, s)
	}
	if len(f.Fixed) > 0 {
		var fixed []string
		for _, k := range slices.Sorted(maps.Keys(f.Fixed)) {
			fixed = append(fixed, clean(k)+" "+clean(f.Fixed[k]))
		}
		out = append(out, "The same everywhere, so that nothing can be said of it: "+strings.Join(fixed, ", ")+".")
	}
	for _, l := range f.LeftOut {
		out = append(out, sentence(fmt.Sprintf("Left out: %s with %s: %s", clean(l.Env), clean(l.Workload), clean(l.Reason))))
	}
	return out
}
