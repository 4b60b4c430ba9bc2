package report

import (
	"fmt"
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// factorWords are what people call the factors.
var factorWords = map[string]string{
	"engine": "the engine", "storage": "the storage driver", "runtime": "the runtime", "client": "the client",
	"network": "the network", "image": "the image", "cgroup": "the cgroup driver", "rootless": "running without root",
	"privileged": "being privileged",
	"seccomp":    "the seccomp filter", "limits": "who sets the limits", "build": "the build", "cpu-limit": "the CPU limit", "memory-limit": "the memory limit", "tuned": "the state of the machine", "log": "the log driver",
}

// spoken is how a sentence names a factor.
func spoken(f *factors.Factors, id string) string {
	for _, x := range f.Factors {
		if x.ID == id && x.Kind == factors.OfWorkload {
			return "the parameter '" + words.Clean(id) + "'"
		}
	}
	if w := factorWords[id]; w != "" {
		return w
	}
	return "the factor '" + words.Clean(id) + "'"
}

// said is how many terms get a sentence each; the table has all of them.
const said = 3

// factorSentences say the largest shares in words, and what cannot be told
// apart.
func factorSentences(f *factors.Factors) []string {
	if f.Missing != "" {
		return []string{words.Sentence("Nothing can be said: " + words.Clean(f.Missing))}
	}
	var out []string
	for _, s := range f.Shares {
		if s.Share == nil || s.Share.Value < 0.01 || len(out) == said {
			continue
		}
		out = append(out, shareSentence(f, s))
	}
	if len(out) == 0 && len(f.Joint) == 0 {
		out = append(out, "No factor explains as much as 1 % of the variance.")
	}
	for _, j := range f.Joint {
		names := lists.Map(j.Factors, func(id string) string { return spoken(f, id) })
		out = append(out, fmt.Sprintf("%s cannot be told apart, since this plan varies them together: together they explain %s of the variance.",
			words.Upper(words.List(names)), shareWords(j.Share)))
	}
	for _, s := range f.Shares {
		if s.Separable == factors.Confounded && s.With == "" && len(s.Among) == 0 {
			out = append(out, words.Upper(spoken(f, s.Factor))+" cannot be told from the other factors, since this plan varies them together.")
		}
	}
	if n := confoundedPairs(f); n > 0 {
		out = append(out, fmt.Sprintf("What two factors do together cannot be told from other effects in %s (n/a in the table); all pairs together explain %s.", words.Plural(n, "case"), shareWords(f.Pairs)))
	}
	return out
}

func confoundedPairs(f *factors.Factors) int {
	return lists.Count(f.Shares, func(s factors.Share) bool {
		return s.Separable == factors.Confounded && s.With != ""
	})
}

func shareSentence(f *factors.Factors, s factors.Share) string {
	who, verb := words.Upper(spoken(f, s.Factor)), "explains"
	if s.With != "" {
		who, verb = who+" and "+spoken(f, s.With)+" together, beyond each alone,", "explain"
	}
	text := fmt.Sprintf("%s %s %s of the variance in the %s.", who, verb, shareWords(s.Share), subject(f))
	if s.Separable == factors.Range && math.Abs(s.Alone-s.Share.Value) >= 0.01 {
		text += fmt.Sprintf(" Alone it would be %s %%: the plan is not balanced, and what lies between the two belongs to other factors as well.", words.Fixed(100*s.Alone, 1))
	}
	return text
}

// shareWords is a share in per cent, with its interval.
func shareWords(e *sample.Estimate) string {
	if e == nil {
		return "an unknown part"
	}
	if e.Lo == nil || e.Hi == nil {
		return words.Fixed(100*e.Value, 0) + " % (too few blocks for an interval)"
	}
	n := words.NumberOf(*e, 0.01, 1)
	return n.Value + " % " + n.Interval
}
