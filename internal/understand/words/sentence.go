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

// Worse says how many times worse something is than another by a metric, as in "takes
// 1.5 × [1.4, 1.6] as long as podman"; without an interval where it has none.
func Worse(m record.Metric, factor sample.Estimate, than string) string {
	f := Factor(factor.Value) + " × "
	if n := NumberOf(factor, 1, Full); n.Interval != "" {
		f = n.Value + " × " + n.Interval + " "
	}
	switch higher := m.Better == record.HigherIsBetter; {
	case higher && strings.HasSuffix(m.Unit, "/s"):
		return f + "slower than " + than
	case higher:
		return f + "less than " + than
	case m.Unit == "ns":
		return "takes " + f + "as long as " + than
	case m.Unit == "bytes":
		return "takes " + f + "as much as " + than
	}
	return "has " + f + "the value of " + than
}

// Better says which way a metric is better.
func Better(m record.Metric) string {
	if m.Better == record.HigherIsBetter {
		return "higher is better"
	}
	return "lower is better"
}
