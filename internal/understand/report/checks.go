package report

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// notTheSame introduces the checks that do not agree.
const notTheSame = "not the same work was done everywhere: "

// checksOf says of the metrics that prove that the same work was done which agree, with
// their value, and which do not.
func checksOf(res *analyze.Result) (agree, bad []string) {
	for i := range res.Workloads {
		w := &res.Workloads[i]
		for k := range w.Tables {
			t := &w.Tables[k]
			c, n, ok := t.Checked()
			title := words.Clean(t.Metric.Title)
			switch {
			case c == nil:
			case !ok:
				bad = append(bad, words.Clean(w.ID)+": "+title)
			case n == 1:
				agree = append(agree, fmt.Sprintf("%s: %s in one environment", title, proof(c.Median.Value, t.Metric.Unit)))
			default:
				agree = append(agree, fmt.Sprintf("%s: %s in all %s", title, proof(c.Median.Value, t.Metric.Unit), words.Plural(n, "environment")))
			}
		}
	}
	return agree, bad
}

// proof is a number that proves the work: a count has no unit, and no decimals that it
// has not.
func proof(v float64, unit string) string {
	if unit == "count" {
		return strconv.FormatFloat(v, 'g', 12, 64)
	}
	return words.Amount(v, unit)
}

// addChecks says in a line whether the same work was done. What agrees has no table:
// it would rank what is neither better nor worse.
func addChecks(d *document.Document, res *analyze.Result) {
	agree, bad := checksOf(res)
	if len(bad) > 0 {
		d.Add(document.Para{Text: document.Say("Failure: " + notTheSame + strings.Join(bad, ", ") + "."), Tone: document.Warn})
	}
	if len(agree) > 0 {
		d.Para("Same work: " + strings.Join(agree, "; ") + ".")
	}
}
