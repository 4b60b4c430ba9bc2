package report

import (
	"cmp"
	"strings"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// stepShort is how large a step is, without its interval.
func stepShort(s *releases.Step) string { return relative(&sample.Estimate{Value: s.Ratio.Value}) }

// became is what a program is from a step on.
func became(r *releases.Releases, s *releases.Step) string {
	m := r.Series[s.Series].Metric
	worse := s.Direction == compare.Worse
	word := map[bool]string{true: "worse", false: "better"}[worse]
	switch {
	case faster(m):
		word = map[bool]string{true: "slower", false: "faster"}[worse]
	case m.Unit == "bytes" && m.Better != "higher":
		word = map[bool]string{true: "larger", false: "smaller"}[worse]
	}
	return word
}

// stepText is a step in one line.
func stepText(r *releases.Releases, s *releases.Step) string {
	return words.Clean(r.Releases[s.After].Name) + ": " + became(r, s) + " than " + words.Clean(r.Releases[s.Before].Name) + ": " + stepSize(r, s)
}

func stepSize(r *releases.Releases, s *releases.Step) string {
	x := &r.Series[s.Series]
	text := words.Clean(cmp.Or(x.Metric.Title, x.Metric.ID))
	if x.Workload == "" {
		return "the " + text + " " + relative(&s.Ratio)
	}
	text = words.Clean(x.Metric.ID) + " of " + words.Clean(x.Workload)
	if several(r) {
		text += " in " + words.Clean(x.Env)
	}
	text += " " + relative(&s.Ratio)
	if s.Most != "" && s.By != nil {
		text += "; " + words.Clean(s.Most) + " is " + moreOrLess(sample.Estimate{Value: *s.By}, x.Metric.Unit)
	}
	return text
}

// several says whether series are of more than one environment.
func several(r *releases.Releases) bool {
	seen := map[string]bool{}
	for i := range r.Series {
		if r.Series[i].Workload != "" {
			seen[r.Series[i].Env] = true
		}
	}
	return len(seen) > 1
}

// mostSteps is how many steps a verdict names.
const mostSteps = 3

// releasesVerdict says in one line with which releases what changed.
func releasesVerdict(r *releases.Releases) string {
	p := words.Clean(r.Program) + ", " + words.Plural(len(r.Releases), "release") + ": "
	var all []string
	for i := range r.Steps {
		if s := &r.Steps[i]; r.Series[s.Series].Workload != "" {
			all = append(all, became(r, s)+" with "+words.Clean(r.Releases[s.After].Name)+" ("+stepSize(r, s)+")")
		}
	}
	if len(all) == 0 {
		return p + "no step of " + sample.Percent(r.Threshold) + " or more was found in " + words.Plural(r.Blocks, "block")
	}
	if n := len(all); n > mostSteps {
		return p + strings.Join(all[:mostSteps], "; ") + "; and " + words.Plural(n-mostSteps, "further step")
	}
	return p + strings.Join(all, "; ")
}
