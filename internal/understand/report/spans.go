package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/words"
)

// addSpans sets the engine's own spans beside what lay on the path meanwhile.
func addSpans(d *document.Document, x *timeline.Explanation) {
	o := x.Spans
	d.Heading(2, "What the engine's own spans say")
	d.Para(SpansHow(o))
	if o.Came == 0 {
		return
	}
	t := &document.Table{Columns: []document.Column{{Title: "at, ms", Right: true, Points: true}, {Title: "ms", Right: true, Points: true}, {Title: "%", Right: true}, {Title: "span"}, {Title: "what the path says of that time"}}}
	service := ""
	var above []spanAbove
	for _, r := range o.Rows {
		in := 0
		if above = above[:r.Depth]; r.Depth > 0 {
			in = above[r.Depth-1].in
		}
		if float64(r.InsideNS) < told*float64(x.Tree.NS) || r.Depth > 0 && float64(r.NS) > nearlyAll*float64(above[r.Depth-1].ns) {
			above = append(above, spanAbove{r.NS, in})
			continue
		}
		above = append(above, spanAbove{r.NS, in + 1})
		name := shortSpan(words.Clean(r.Name))
		if r.Depth == 0 && r.Service != service {
			service = r.Service
			name = words.Clean(service) + ": " + name
		}
		if r.Times >= 1.5 {
			name += fmt.Sprintf(" (%.0f times)", r.Times)
		}
		t.Row(fixed(r.FirstNS), fixed(r.NS), fmt.Sprintf("%.0f", 100*r.Share), strings.Repeat("  ", in)+name, along(r))
	}
	d.Add(t)
	d.Legend("Means over the same starts as above. The length is what the engine says; the share is that of the part before the start's end. A span contains those below it; one that is nearly all of the one above it is left out, and so is what is below 1 %. Where it waited for other programs, they are on the path. Names are shortened: --format json has all of it.")
}

// longestSpan is how many characters of a name are shown.
const longestSpan = 28

// spanAbove is a span's time, and how far those below it are set in.
type spanAbove struct {
	ns int64
	in int
}

// nearlyAll is what part of a span is told of no more than the whole.
const nearlyAll = 0.95

// shortSpan is the name of a call without its service, or of a Go function without its
// package and type, and no longer than leaves room for what the path says.
func shortSpan(name string) (short string) {
	defer func() {
		if r := []rune(short); len(r) > longestSpan {
			short = string(r[:longestSpan-1]) + "…"
		}
	}()
	i := strings.LastIndex(name, "/")
	if host, _, _ := strings.Cut(name, "/"); strings.Contains(host, ".") && strings.Count(name, "/") > 1 {
		i = max(i, strings.LastIndex(name, "."))
	}
	if i < len(name)-1 {
		return name[i+1:]
	}
	return name
}

// SpansHow says what was switched on for the engine's own spans, and how well their times
// are known; it stands beside every form of them.
func SpansHow(o *timeline.OwnSpans) string {
	s := words.Clean(o.How)
	if o.Came == 0 {
		return s + " No span of these starts reached us."
	}
	s += fmt.Sprintf(" %s; their clock is set against that of the path to within %.3g µs.", words.Plural(o.Came, "span"), float64(o.ClockErrorNS)/1e3)
	if o.Refused > 0 {
		s += fmt.Sprintf(" There was no room for %s.", words.Plural(o.Refused, "more span"))
	}
	return s
}

// along says who was on the path during a span, and what most of that went into.
func along(r *timeline.SpanRow) string {
	var all []string
	most, of := "", 0.0
	for _, p := range r.Path {
		if len(all) == 0 || p.Share >= 0.3 && len(all) < 2 {
			all = append(all, fmt.Sprintf("%s %.0f %%", words.Clean(p.Program), 100*p.Share))
		}
		if p.Of > of {
			of, most = p.Of, fmt.Sprintf("%s (%.0f %%)", words.Clean(p.Most), 100*p.Of)
		}
	}
	return strings.Join(all, ", ") + ": " + most
}
