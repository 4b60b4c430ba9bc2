package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

func auditText(w io.Writer, res *analyze.Result, opts Options) error {
	p := newPage(w, opts)
	p.text("head", "", "Equivalence audit of "+headline(res))
	p.blank()
	p.text("head", "", "Isolation, as the payload saw it")
	p.parts(isolationGrid(res))
	p.text("dim", "", isolationLegend())
	alike, differ := termsOf(res)
	if len(alike) > 0 {
		p.blank()
		p.text("head", "", "Alike wherever it is known")
		p.text("", "   ", strings.Join(alike, ", "))
	}
	if len(differ) > 0 {
		p.blank()
		p.text("head", "", "What differs")
		for _, d := range differ {
			p.line("", cut(d.key, p.width))
			for _, v := range d.values {
				p.text("", "   "+cut(v.value, p.width/3)+"  ", v.text())
			}
		}
	}
	unequal, all := comparisons(res)
	p.blank()
	p.text("head", "", "Comparisons")
	p.text("", "", comparedText(len(unequal), all))
	for _, s := range unequal {
		p.text("", " - ", s)
	}
	return p.w.Flush()
}

func auditMarkdown(w io.Writer, res *analyze.Result, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Equivalence audit of %s\n\n## Isolation, as the payload saw it\n\n", mdEscape(headline(res)))
	mdGrid(out, isolationGrid(res))
	fmt.Fprintf(out, "%s\n\n", mdEscape(isolationLegend()))
	alike, differ := termsOf(res)
	if len(alike) > 0 {
		fmt.Fprintf(out, "## Alike wherever it is known\n\n%s\n\n", mdEscape(strings.Join(alike, ", ")))
	}
	if len(differ) > 0 {
		fmt.Fprint(out, "## What differs\n\n| property | value | environments |\n| --- | --- | --- |\n")
		for _, d := range differ {
			for _, v := range d.values {
				fmt.Fprintf(out, "| %s | %s | %s |\n", mdEscape(d.key), mdEscape(v.value), mdEscape(strings.Join(v.envs, ", ")))
			}
		}
		fmt.Fprintln(out)
	}
	unequal, all := comparisons(res)
	fmt.Fprintf(out, "## Comparisons\n\n%s\n", mdEscape(comparedText(len(unequal), all)))
	for i, s := range unequal {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "- %s\n", mdEscape(s))
	}
	return out.Flush()
}

// auditCSV has a row for each environment and property, and one for each
// difference of a comparison that no factor brings with it.
func auditCSV(w io.Writer, res *analyze.Result, _ Options) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"run", "kind", "environment", "against", "factors", "property", "value", "value_against"}}
	for _, e := range res.Audit.Environments {
		for _, p := range res.Audit.Properties {
			v := e.Configuration[p.Key]
			if p.Kind == audit.Isolation {
				v = e.Isolation[p.Key]
			}
			if v != "" {
				rows = append(rows, []string{clean(res.Run.ID), p.Kind, clean(e.Env), "", "", clean(p.Key), clean(v), ""})
			}
		}
	}
	for _, p := range res.Audit.Pairs {
		for _, d := range p.Beyond {
			rows = append(rows, []string{clean(res.Run.ID), "difference", clean(p.A), clean(p.B), clean(strings.Join(p.Factors, ";")), clean(d.Key), clean(d.A), clean(d.B)})
		}
	}
	return out.WriteAll(rows)
}

func auditJSON(w io.Writer, res *analyze.Result, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(res.Audit)
}
