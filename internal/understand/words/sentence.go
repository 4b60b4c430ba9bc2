package words

import (
	"fmt"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// List names things as a sentence does: "a, b and c".
func List(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// FirstFew names the first five of many, cleaned.
func FirstFew(names []string) string {
	const most = 5
	for i := range names {
		names[i] = Clean(names[i])
	}
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Plural is a number of things: their name, with an s but for one.
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Sentence ends a text with a full stop, unless it has its end.
func Sentence(s string) string {
	if s == "" || strings.ContainsAny(s[len(s)-1:], ".!?") {
		return s
	}
	return s + "."
}

// Upper begins a text with a capital.
func Upper(s string) string {
	if s == "" {
		return s
	}
	r := []rune(s)
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

// Times is the title of how many times a median is the first one's, or of how many times
// worse it is where more is better: larger is worse in both.
func Times(m record.Metric) string {
	if m.Better == record.HigherIsBetter {
		return "× worse"
	}
	return "× first"
}

// Worse compares a value with another by a metric: "1.50× slower than podman (1.40–1.60)".
// The factor is how many times worse it is; the interval is left out where there is none,
// and the other's name where than is "".
func Worse(m record.Metric, factor sample.Estimate, than string) string {
	_, worse := comparison(m, factor, than)
	return worse
}

// IsWorse is Worse as the rest of a sentence: "is 1.50× slower than podman (1.40–1.60)".
func IsWorse(m record.Metric, factor sample.Estimate, than string) string {
	verb, worse := comparison(m, factor, than)
	return verb + worse
}

func comparison(m record.Metric, factor sample.Estimate, than string) (verb, worse string) {
	f, interval := Ratio(factor)
	verb, how, link := "has ", "", " the value of "
	higher := m.Better == record.HigherIsBetter
	switch {
	case factor.Value < 1:
	case m.Unit == "ns" && !higher, higher && strings.HasSuffix(m.Unit, "/s"):
		verb, how, link = "is ", " slower", " than "
	case higher:
		verb, how, link = "is ", " less", " than "
	case m.Unit == "bytes":
		verb, how, link = "needs ", " as much", " as "
	}
	if than == "" {
		link = ""
	}
	return verb, f + how + link + than + interval
}

// Ratio is a factor and, where there is one, its interval, as a sentence has them: "1.50×"
// and " (1.40–1.60)".
func Ratio(e sample.Estimate) (factor, interval string) {
	if e.Lo == nil || e.Hi == nil {
		return Factor(e.Value) + "×", ""
	}
	n := NumberOf(e, 1, Full)
	return n.Value + "×", " (" + strings.ReplaceAll(strings.Trim(n.Interval, "[]"), ", ", "–") + ")"
}

// Better says which way a metric is better.
func Better(m record.Metric) string {
	if m.Better == record.HigherIsBetter {
		return "higher is better"
	}
	return "lower is better"
}
