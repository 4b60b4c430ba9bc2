package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// What a page writes of a run in the words of the other reports.

// Named is a fact with its name.
type Named struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Head says what was measured, how, where and when.
func Head(res *analyze.Result) []Named {
	run := res.Run
	study := words.Clean(run.Study)
	if run.Scale != "" {
		study += " (" + words.Clean(run.Scale) + ")"
	}
	for _, from := range slices.Sorted(maps.Keys(run.Bound)) {
		study += ", " + words.Clean(from) + " is " + words.Clean(run.Bound[from])
	}
	if run.Title != "" {
		study += ": " + words.Clean(run.Title)
	}
	at := when(res)
	if run.Status != "" && run.Status != "done" {
		at += ", " + words.Clean(run.Status)
	}
	trials := fmt.Sprint(run.Trials)
	if run.Warmup > 0 {
		trials += fmt.Sprintf(", of which %d warm-up", run.Warmup)
	}
	trials += "; "
	if run.Unsupported > 0 {
		trials += fmt.Sprintf("%d unsupported, ", run.Unsupported)
	}
	trials += fmt.Sprintf("%d failed", run.Failed-run.Unsupported)
	how := protocol(res)
	if n := len(res.Workloads); n > 1 {
		how = words.Plural(n, "workload") + ", " + how
	}
	return []Named{{"Study", study}, {"Protocol", how}, {"Machine", machine(run.Host)}, {"When", at}, {"Trials", trials}}
}

// ExcludedTable gathers what could not run by the reason.
func ExcludedTable(list []record.Excluded) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "reason", "what would help")}
	for _, x := range excludedOf(&analyze.Result{Excluded: list}) {
		t.Row(x.names, x.reason, x.fix)
	}
	return t
}

// RemarkTable gathers remarks by what they say.
func RemarkTable(list []record.Remark) *document.Table {
	var of analyze.Grouped[record.Remark, string]
	for _, r := range list {
		key := record.Remark{Code: r.Code, Level: r.Level, Text: r.Text, Advice: r.Advice}
		of.Add(key)
		if at := strings.Trim(strings.Join([]string{words.Name(r.Env), words.Clean(r.Workload), words.Clean(r.Metric)}, " "), " "); at != "" {
			of.Add(key, at)
		}
	}
	t := &document.Table{Columns: document.Columns("level", "of", "remark", "advice")}
	for r, at := range of.All() {
		t.Row(words.Clean(r.Level), words.FirstFew(at), words.Clean(r.Text), words.Clean(r.Advice))
	}
	return t
}
