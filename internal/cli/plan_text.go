//go:build linux

package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// reason is why some environments, or some workloads in them, do not run.
type reason struct {
	Kind   string `json:"kind"`
	Reason string `json:"reason"`
	Source string `json:"source,omitempty"`
	Fix    string `json:"fix,omitempty"`
	// Count is how many it concerns, IDs are those.
	Count int      `json:"count"`
	IDs   []string `json:"ids"`
}

// reasons gathers what is excluded by the reason, in the order of the plan.
func reasons(p *study.Plan) []reason {
	type key struct{ kind, reason, source, fix string }
	var ids analyze.Grouped[key, string]
	for _, x := range p.Excluded {
		id := x.ID
		if x.Workload != "" {
			id += " with " + x.Workload
		}
		ids.Add(key{x.Kind, x.Reason, x.Source, x.Fix}, id)
	}
	out := []reason{}
	for k, of := range ids.All() {
		out = append(out, reason{Kind: k.kind, Reason: k.reason, Source: k.source, Fix: k.fix, Count: len(of), IDs: of})
	}
	return out
}

// manyEnvironments is from where on environments are summed up by engine.
const manyEnvironments = 40

// fewNames is how many are named of those that share a reason.
const fewNames = 2

// printPlan prints what would run and what not, and why. A matrix of hundreds
// is summed up, unless all of it is asked for.
func printPlan(out io.Writer, p *study.Plan, engines []engine.Engine, untested string, all bool) {
	n := p.Counts()
	fmt.Fprintf(out, "%s", p.Study.Name)
	if p.Study.Scale != "" {
		fmt.Fprintf(out, " at scale %s", p.Study.Scale)
	}
	if p.Study.Title != "" {
		fmt.Fprintf(out, ": %s", p.Study.Title)
	}
	fmt.Fprintln(out)
	ends, bound, about := course(p.Protocol, false, false), "", "about "
	if ends != "" {
		bound, about = "at most ", "at most about "
	}
	blocks := fmt.Sprintf("%s%s and %d to warm up, %s", bound, words.Plural(p.Protocol.Blocks, "block"), p.Protocol.Warmup, words.Plural(n.Trials, "trial"))
	run, are := "run", "are"
	if n.Valid == 1 {
		run = "runs"
	}
	if n.Impossible == 1 {
		are = "is"
	}
	fmt.Fprintf(out, "%s %s, %d can't run here, %d %s impossible; %s, %s%s, seed %d\n",
		words.Plural(n.Valid, "environment"), run, n.Unavailable, n.Impossible, are, blocks, about, left(estimate(p, engines)), p.Protocol.Seed)
	for _, r := range p.Remarks {
		if r.Code == imageMissing {
			fmt.Fprintf(out, "%s\n  try: %s\n", r.Text, r.Advice)
		}
	}
	if ends != "" {
		fmt.Fprintln(out, "It "+ends+".")
	}
	if len(p.Protocol.ClaimLooks) > 0 {
		times := timesOf(engines)
		fmt.Fprintf(out, "The first %d blocks take about %s.\n", p.Protocol.Fixed(), left(p.EstimateFixed(times)+p.Opening(times)))
	}
	if len(p.Study.Only) > 0 {
		fmt.Fprintf(out, "Only what these claims need: %s.\n", strings.Join(p.Study.Only, ", "))
	}
	printPublished(out, p.Published)
	printParts(out, p)
	fmt.Fprintln(out)
	if len(p.Environments) > manyEnvironments && !all {
		printEngineCounts(out, p.Environments)
	} else if len(p.Environments) > 0 {
		tw := columnsOn(out)
		fmt.Fprintln(tw, "ENVIRONMENT\tLEVELS")
		for _, e := range p.Environments {
			fmt.Fprintf(tw, "%s\t%s\n", e.ID, dash(levelsText(e.Levels)))
		}
		_ = tw.Flush() // a terminal that is gone is noticed by the next command
	}
	for _, kind := range []string{study.Unavailable, study.Impossible} {
		printReasons(out, kind, reasons(p), all)
	}
	apart := "\n"
	if untested != "" {
		fmt.Fprintln(out, apart+"Untested: "+untested+".")
		apart = ""
	}
	for _, r := range p.Remarks {
		if r.Code != imageMissing { // which stands at the top
			fmt.Fprintln(out, apart+r.Text)
			apart = ""
		}
	}
}

// manySkipped is from how many parts on one reason is said of all of them together.
const manySkipped = 3

// printParts says which workloads run in how many environments, part by part. Of parts
// that many others are left out with it says so below.
func printParts(out io.Writer, p *study.Plan) {
	if len(p.Study.Parts) == 0 {
		return
	}
	runs := map[string]bool{}
	for _, e := range p.Environments {
		runs[e.ID] = true
	}
	var skipped analyze.Grouped[string, string] // by reason
	for _, q := range p.Study.Parts {
		if q.Skipped != "" {
			skipped.Add(q.Skipped, q.Name)
		}
	}
	fmt.Fprintln(out)
	tw := columnsOn(out)
	fmt.Fprintln(tw, "PART\tENVIRONMENTS\tBLOCKS\tWORKLOADS")
	for _, q := range p.Study.Parts {
		switch n := len(skipped.Of(q.Skipped)); {
		case n >= manySkipped:
			continue
		case n > 0:
			fmt.Fprintf(tw, "%s\t-\t-\tskipped: %s\n", q.Name, q.Skipped)
			continue
		}
		n := lists.Count(q.Environments, func(e string) bool { return runs[e] })
		blocks := cmp.Or(q.Blocks, p.Protocol.Fixed())
		for i, l := range wrapWords(strings.Join(q.Workloads, " "), 70) {
			if i == 0 {
				fmt.Fprintf(tw, "%s\t%d of %d\t%d\t%s\n", q.Name, n, len(q.Environments), blocks, l)
			} else {
				fmt.Fprintf(tw, "\t\t\t%s\n", l)
			}
		}
	}
	_ = tw.Flush() // as below
	for why, names := range skipped.All() {
		if len(names) < manySkipped {
			continue
		}
		fmt.Fprintln(out)
		for _, l := range wrapWords("Left out: "+strings.Join(names, ", ")+". "+why, pageOn(out)) {
			fmt.Fprintln(out, l)
		}
	}
}

// printPublished sets the plan's count beside that of a paper.
func printPublished(out io.Writer, p *study.Published) {
	if p == nil {
		return
	}
	fmt.Fprintf(out, "\nPublished: %d combinations, %d of them valid (%s).\n", p.Combinations, p.Valid, p.Source)
	fmt.Fprintf(out, "Here:      %d combinations, %d of them valid by the rules below, available here or not; baselines are not counted.\n", p.OurCombinations, p.OurValid)
	if p.Difference != "" && (p.OurValid != p.Valid || p.OurCombinations != p.Combinations) {
		for _, l := range wrapWords(p.Difference, pageOn(out)-2) {
			fmt.Fprintln(out, "  "+l)
		}
	}
}

func printReasons(out io.Writer, kind string, rs []reason, all bool) {
	heading := map[string]string{study.Unavailable: "\nUnavailable here:", study.Impossible: "\nImpossible:"}[kind]
	for _, r := range rs {
		if r.Kind != kind {
			continue
		}
		if heading != "" {
			fmt.Fprintln(out, heading)
			heading = ""
		}
		if len(r.IDs) == 1 {
			fmt.Fprintln(out, missing(r.IDs[0], r.Reason, r.Fix))
		} else {
			lead := fmt.Sprintf("  %d × ", len(r.IDs))
			for i, l := range wrapWords(r.Reason, pageOn(out)-len(lead)) {
				if i > 0 {
					lead = strings.Repeat(" ", len([]rune(lead)))
				}
				fmt.Fprintln(out, lead+l)
			}
			switch {
			case all:
				fmt.Fprintf(out, "    %s\n", strings.Join(r.IDs, "\n    "))
			case len(r.IDs) > fewNames:
				fmt.Fprintf(out, "    %s, …\n", strings.Join(r.IDs[:fewNames], ", "))
			default:
				fmt.Fprintf(out, "    %s\n", strings.Join(r.IDs, ", "))
			}
			if r.Fix != "" {
				fmt.Fprintf(out, "    try: %s\n", r.Fix)
			}
		}
		if r.Source != "" {
			fmt.Fprintf(out, "    see %s\n", r.Source)
		}
	}
}

// printEngineCounts says of each engine how many environments run, and with
// which levels.
func printEngineCounts(out io.Writer, envs []record.Environment) {
	tw := columnsOn(out)
	fmt.Fprintln(tw, "ENGINE\tENVIRONMENTS\tLEVELS")
	var names []string
	count := map[string]int{}
	levels := map[string]map[string][]string{}
	for _, e := range envs {
		if count[e.Engine]++; count[e.Engine] == 1 {
			names = append(names, e.Engine)
			levels[e.Engine] = map[string][]string{}
		}
		for f, l := range e.Levels {
			levels[e.Engine][f] = analyze.Also(levels[e.Engine][f], l)
		}
	}
	for _, n := range names {
		var parts []string
		for _, f := range engine.Factors {
			if ls := levels[n][f]; len(ls) > 0 {
				parts = append(parts, f+"="+strings.Join(ls, "|"))
			}
		}
		fmt.Fprintf(tw, "%s\t%d\t%s\n", n, count[n], dash(strings.Join(parts, " ")))
	}
	_ = tw.Flush() // as above
	fmt.Fprintln(out, "(--all lists each)")
}

// pageOn is how wide texts are written: as a pipe gets them, and no wider than the
// terminal, which would break their lines once more.
func pageOn(out io.Writer) int {
	if w := widthOf(out); w > 0 {
		return min(w, pipeWidth)
	}
	return pipeWidth
}

// wrapWords breaks a text into lines of at most n characters.
func wrapWords(s string, n int) []string {
	var lines []string
	for _, w := range strings.Fields(s) {
		if k := len(lines); k > 0 && len([]rune(lines[k-1]))+1+len([]rune(w)) <= n {
			lines[k-1] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return lines
}
