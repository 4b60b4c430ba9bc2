package verdict

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/words"
)

// mostEngines bounds the sentence that goes through them.
const mostEngines = 16

// engines goes through the engines, each by the environment of its own that
// ranks first, and says how many times the first one's value each has. Of two
// engines with one environment each the first sentence says it all.
func (q *question) engines() string {
	var lead []string // an environment of each engine
	seen := map[string]bool{}
	for _, id := range q.all {
		if e := q.env(id).Engine; !seen[e] {
			seen[e] = true
			lead = append(lead, id)
		}
	}
	if len(lead) < 2 || len(q.all) == 2 {
		return ""
	}
	var b strings.Builder
	ties := false
	for i, id := range lead {
		if i == mostEngines {
			fmt.Fprintf(&b, ", and %d more", len(lead)-i)
			break
		}
		switch {
		case i == 0:
		case q.tied(lead[i-1], id):
			ties = true
			b.WriteString(" ≈ ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(words.Clean(q.env(id).Engine) + " " + q.value(id))
		if p := q.pair(lead[0], id); i > 0 && p != nil && p.Missing == "" {
			b.WriteString(" (" + words.NumberOf(inverse(p.Estimate), 1, 2).Value + "×)")
		}
	}
	s := words.Upper(q.superlative()) + " environment of each engine"
	if len(lead) == len(q.all) {
		s = "Engine by engine"
	}
	s += " (median, and ratio to the first"
	if ties {
		s += "; ≈: no difference found"
	}
	s += "): " + b.String()
	if slices.ContainsFunc(q.res.Remarks, func(m record.Remark) bool { return m.Code == "unequal" && m.Env == "" }) {
		s += "; they differ in more than the engine: see the equivalence audit"
	}
	return s + "."
}

func (q *question) env(id string) record.Environment {
	if e := q.envs[id]; e != nil {
		return *e
	}
	return record.Environment{ID: id}
}

// tied says whether two share a letter.
func (q *question) tied(a, b string) bool {
	return strings.ContainsAny(q.table.Cell(a).Group, q.table.Cell(b).Group)
}

// value is a median without its interval, which decides on its digits alone.
func (q *question) value(id string) string {
	s, _, _ := strings.Cut(q.median(id), " [")
	return s
}
