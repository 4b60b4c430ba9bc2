package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// factorsOf is what matters most in a run, for each group of its workloads.
type factorsOf struct {
	res *analyze.Result
	all []*factors.Factors
}

var factorFormats = kindOf("factors", factorsDocument, format[factorsOf]{"csv", asCSV(factorsCSV)},
	jsonOf(func(f factorsOf) factorsJSON {
		return factorsJSON{analyze.Schema, f.res.Run.ID, f.res.Run.Study, f.all}
	}))

// FactorFormats lists the formats of WriteFactors.
func FactorFormats() []string { return factorFormats.Formats() }

// WriteFactors renders what matters most.
func WriteFactors(w io.Writer, format string, res *analyze.Result, all []*factors.Factors, opts Options) error {
	return factorFormats.Write(w, format, factorsOf{res, all}, opts)
}

type factorsJSON struct {
	Schema  int                `json:"schema"`
	Run     string             `json:"run"`
	Study   string             `json:"study"`
	Factors []*factors.Factors `json:"factors"`
}

func factorsDocument(d *document.Document, x factorsOf, _ Options) {
	begin(d, "What matters most", x.res)
	for _, f := range x.all {
		d.Heading(2, factorsTitle(f))
		d.List(" - ", document.Items(factorSentences(f)))
		if f.Missing == "" {
			d.Gap(document.Text)
			d.Add(factorTable(f))
		}
		legend := factorsLegend(f)
		if d.Medium == document.Markdown {
			legend = []string{strings.Join(legend, " ")}
		}
		d.Legend(legend...)
	}
}

func factorsTitle(f *factors.Factors) string {
	return "What matters most for " + subject(f)
}

func subject(f *factors.Factors) string {
	return words.Clean(f.Metric.Title) + " of " + words.Clean(f.Workload)
}

// factorTable has a row for each share, then what is left.
func factorTable(f *factors.Factors) *document.Table {
	t := &document.Table{Columns: document.Columns("factor", "share, %", "alone, %", "partial, %", "levels"), Parts: true}
	t.Columns[1].Points, t.Columns[2].Right, t.Columns[3].Right = true, true, true
	add := func(name string, share *sample.Estimate, alone, partial, levels string) {
		n := words.Number{Value: "n/a"}
		if share != nil {
			n = words.NumberOf(*share, 0.01, 1)
		}
		t.Row(name, n.Value, alone, partial, levels)
		t.Rows[len(t.Rows)-1].Cells[1].Tail = n.Interval
	}
	percent := func(v float64) string { return words.Fixed(100*v, 1) }
	for _, s := range f.Shares {
		name, levels := words.Clean(s.Factor), levelsOf(f, s.Factor)
		if s.With != "" {
			name, levels = name+" × "+words.Clean(s.With), ""
		}
		partial := percent(s.Partial)
		if s.Separable == factors.Confounded {
			partial = "n/a"
		}
		add(name, s.Share, percent(s.Alone), partial, levels)
	}
	for _, j := range f.Joint {
		add(words.Clean(strings.Join(j.Factors, " + ")), j.Share, "", "", "")
	}
	if f.Pairs != nil {
		add("(all pairs together)", f.Pairs, "", "", "")
	}
	add("(the rest between cells)", f.Rest, "", "", "")
	add("(noise)", f.Noise, "", "", "")
	return t
}

func levelsOf(f *factors.Factors, id string) string {
	for _, x := range f.Factors {
		if x.ID == id {
			return words.Cut(words.Clean(strings.Join(x.Levels, ", ")), 2*words.MaxName)
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
			f.Cells, words.Plural(len(f.Environments), "environment"), words.Plural(len(f.Workloads), "workload"), f.Blocks)
		if f.Noise != nil && f.Noise.Lo != nil {
			s += fmt.Sprintf(" Brackets: 95 %% intervals, from %d resamples of whole blocks.", f.Resamples)
		} else {
			s += " Fewer than 6 blocks carry no interval."
		}
		out = append(out, s)
	}
	out = append(out, fixedLegend(f.Fixed)...)
	for _, l := range f.LeftOut {
		out = append(out, words.Sentence(fmt.Sprintf("Left out: %s with %s: %s", words.Clean(l.Env), words.Clean(l.Workload), words.Clean(l.Reason))))
	}
	return out
}

// fixedLegend says which factors have one level everywhere.
func fixedLegend(fixed map[string]string) []string {
	if len(fixed) == 0 {
		return nil
	}
	of := func(factor string) string { return words.Clean(factor) + " " + words.Clean(fixed[factor]) }
	all := strings.Join(lists.Map(slices.Sorted(maps.Keys(fixed)), of), ", ")
	return []string{"The same everywhere, so nothing can be said about it: " + all + "."}
}
