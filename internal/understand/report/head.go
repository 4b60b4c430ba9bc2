package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// What a page writes of a run in the words of the other reports.

// Named is a fact with its name.
type Named struct{ Name, Value string }

// Head says what was measured, how, where and when, of a run with so many
// environments.
func Head(run analyze.RunInfo, envs int) []Named {
	res := &analyze.Result{Run: run, Environments: make([]record.Environment, envs)}
	study := clean(run.Study)
	if run.Scale != "" {
		study += " (" + clean(run.Scale) + ")"
	}
	if run.Title != "" {
		study += ": " + clean(run.Title)
	}
	at := when(res)
	if run.Status != "" && run.Status != "done" {
		at += ", " + clean(run.Status)
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
	return []Named{{"Study", study}, {"Protocol", protocol(res)}, {"Machine", machine(run.Host)}, {"When", at}, {"Trials", trials}}
}

// ExcludedRows gathers what could not run by the reason: names, reason, and
// what would help.
func ExcludedRows(list []record.Excluded) [][]string {
	var out [][]string
	for _, x := range excludedOf(&analyze.Result{Excluded: list}) {
		out = append(out, []string{x.names, x.reason, x.fix})
	}
	return out
}

// RemarkRows gathers remarks by what they say: level, whom they are of, text
// and advice.
func RemarkRows(list []record.Remark) [][]string {
	groups := map[string]*[]string{}
	var order []string
	for _, r := range list {
		key := strings.Join([]string{r.Code, r.Level, r.Text, r.Advice}, "\x00")
		if groups[key] == nil {
			groups[key] = &[]string{}
			order = append(order, key)
		}
		if at := strings.Trim(strings.Join([]string{nameOf(r.Env), clean(r.Workload), clean(r.Metric)}, " "), " "); at != "" {
			*groups[key] = append(*groups[key], at)
		}
	}
	var out [][]string
	for _, key := range order {
		f := strings.Split(key, "\x00")
		out = append(out, []string{clean(f[1]), firstFew(*groups[key]), clean(f[2]), clean(f[3])})
	}
	return out
}
