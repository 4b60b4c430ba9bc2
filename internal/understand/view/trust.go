package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/remark"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// The levels of Trust, the worst first.
const (
	Bad  = "bad"
	Warn = "warn"
	Good = "good"
)

// minor are the remarks that bear on trust although they are only information.
var minor = []string{"incomplete", "foreign-clock", "torn-tail"}

// trust judges by the remarks that there are, and says what was looked for and
// not found. Failures are counted for the whole run.
func trust(res *analyze.Result) []Trust {
	if warming(res) {
		return []Trust{{Warn, "Warming up", "No trial counts yet, so that there is nothing to judge."}}
	}
	out := []Trust{failures(res)}
	var codes analyze.Grouped[string, record.Remark]
	for _, m := range res.Remarks {
		if m.Level == "info" && !slices.Contains(minor, m.Code) || m.Code == "failures" || !shown(res, m) {
			continue
		}
		codes.Add(m.Code, m)
	}
	for c, remarks := range codes.All() {
		out = append(out, Trust{levelOf(res, remarks), remark.Title(c), textOf(remarks)})
	}
	out = append(out, goods(res, &codes)...)
	slices.SortStableFunc(out, func(x, y Trust) int { return cmp.Compare(place(x.Level), place(y.Level)) })
	return out
}

// warming says whether a run goes on of which no trial counts yet.
func warming(res *analyze.Result) bool {
	return res.Run.Status == "running" && res.Run.Trials <= res.Run.Warmup
}

func place(level string) int { return slices.Index([]string{Bad, Warn, Good}, level) }

// levelOf is the worst of some remarks of one code.
func levelOf(res *analyze.Result, all []record.Remark) string {
	for _, m := range all {
		switch {
		case m.Level == "refuse", m.Code == "negative", m.Code == "preliminary" && res.Run.Blocks < 2 && res.Run.Status != "running":
			return Bad
		}
	}
	return Warn
}

// textOf says each sentence once, with the environments that it is about; of
// many sentences the first.
func textOf(all []record.Remark) string {
	const most = 3
	var texts []string
	envs := map[string][]string{}
	for _, m := range all {
		text := clip(strings.TrimSuffix(m.Text, "."), maxNote)
		texts = analyze.Also(texts, text)
		if m.Env != "" && !slices.Contains(envs[text], m.Env) {
			envs[text] = append(envs[text], m.Env)
		}
	}
	rest := 0
	if n := len(texts); n > most {
		texts, rest = texts[:1], n-1
	}
	for i, t := range texts {
		if who := some(envs[t]); who != "" {
			texts[i] = who + ": " + t
		}
	}
	s := strings.Join(texts, "; ")
	if rest > 0 {
		s += fmt.Sprintf("; and %d more of the kind", rest)
	}
	s += "."
	if a := all[0].Advice; a != "" {
		s += " Advice: " + a + "."
	}
	return s
}

// some names the first few.
func some(envs []string) string {
	const most = 4
	var out []string
	for i, e := range envs {
		if i == most-1 && len(envs) > most {
			out = append(out, fmt.Sprintf("%d others", len(envs)-i))
			break
		}
		out = append(out, words.Name(e))
	}
	return words.List(out)
}

func failures(res *analyze.Result) Trust {
	out := Trust{Level: Good, Title: "Failures", Text: "No trial failed."}
	if res.Run.Trials == 0 {
		return Trust{Level: Bad, Title: "Trials", Text: "There is none."}
	}
	if res.Run.Failed == 0 {
		return out
	}
	classes := map[record.Class]int{}
	var always []string
	for _, w := range res.Workloads {
		for _, c := range w.Counts {
			for _, f := range c.Classes {
				classes[f.Class] += f.N
			}
			if c.Trials > 0 && c.Failed == c.Trials && !slices.Contains(always, c.Env) {
				always = append(always, c.Env)
			}
		}
	}
	const most = 3
	order := slices.DeleteFunc(slices.Clone(record.Classes), func(c record.Class) bool { return classes[c] == 0 })
	slices.SortStableFunc(order, func(x, y record.Class) int { return cmp.Compare(classes[y], classes[x]) })
	var parts []string
	for i, c := range order {
		if i == most {
			parts = append(parts, "and others")
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", classes[c], c))
	}
	out.Level = Warn
	out.Text = fmt.Sprintf("%d of %s failed: %s", res.Run.Failed, words.Plural(res.Run.Trials-res.Run.Warmup, "trial"), strings.Join(parts, ", "))
	if len(always) > 0 {
		out.Level = Bad
		out.Text += "; always with some workload: " + some(always)
	}
	out.Text += "."
	return out
}

// goods are what was looked for and not found.
func goods(res *analyze.Result, found *analyze.Grouped[string, record.Remark]) []Trust {
	var out []Trust
	add := func(ok bool, title, text string) {
		if ok {
			out = append(out, Trust{Good, title, text})
		}
	}
	run := res.Run
	none := func(code string) bool { return found.Of(code) == nil }
	ours := run.Imported == nil && run.Trials > 0
	add(run.Status == "done" && none("incomplete") && run.Trials > 0, "Run", fmt.Sprintf("It ran to its end: %s in %s.", words.Plural(run.Trials-run.Warmup, "trial"), words.Plural(run.Blocks, "block")))
	add(run.Status == "done" && ours && len(run.Residue) == 0, "Left behind", "Nothing was left behind.")
	add(ours && run.Host.Kernel != "" && !slices.ContainsFunc(run.Host.Remarks, func(m record.Remark) bool { return m.Level != "info" }),
		"Machine", "Nothing was found that disturbs measurements.")
	enough := none("preliminary") && run.Blocks > 0
	add(enough, "Blocks", fmt.Sprintf("There are %s, enough for intervals by ranks.", words.Plural(run.Blocks, "block")))
	add(enough && none("drift"), "Drift", "Nothing that is shown first drifted over the run.")
	steal, little := stolen(res)
	add(ours && little, "Steal", steal)
	noise := 0.0
	for _, n := range run.Noise {
		noise = max(noise, n.Relative)
	}
	add(noise > 0, "Noise floor", fmt.Sprintf("The same environment, measured twice, came out up to %.2g %% apart.", 100*noise))
	return out
}

// stolen says how much time the hypervisor took; ok is false where that is said
// as a warning.
func stolen(res *analyze.Result) (text string, ok bool) {
	for _, m := range res.Remarks {
		if m.Code == "steal" {
			return strings.ToUpper(m.Text[:1]) + m.Text[1:] + ".", m.Level == "info"
		}
	}
	return "No trial lost more than 1 % of its time to the hypervisor.", true
}
