package report

import (
	"fmt"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/words"
)

// Rates is a table of starts a second, and of what bounds them.
var Rates = kindOf("a table of rates", ratesDocument, format[*timeline.Rates]{"json", asJSON[*timeline.Rates]})

func ratesDocument(d *document.Document, x *timeline.Rates, _ Options) {
	d.Heading(1, "How many starts a second, and what bounds it")
	t := &document.Table{Columns: []document.Column{{Title: "what is started"}, {Title: "at\nonce", Right: true}, {Title: "a\nsecond", Right: true, Points: true},
		{Title: "each,\nms", Right: true, Points: true}, {Title: "× as\nalone", Right: true, Points: true}, {Title: "what takes longer\nthan alone, mostly"}}}
	for _, r := range x.Rows {
		what, n := words.Clean(r.What), fmt.Sprint(r.AtOnce)
		if r.Missing != "" {
			t.Told(what, n, "", "", "", "n/a: "+words.Clean(r.Missing))
			continue
		}
		times := fmt.Sprintf("%.2g", r.Times)
		if r.AtOnce == 1 {
			times = ""
		}
		t.Told(what, n, fmt.Sprintf("%.3g", r.PerSecond), about(r.NS), times, mostly(r))
	}
	d.Add(t)
	rounds := "One round of each was traced, and one not."
	if x.Starts > 1 {
		rounds = fmt.Sprintf("%d rounds of each were traced, and as many not.", x.Starts)
	}
	d.Legend(fmt.Sprintf("A second: so many that begin together, by the time until the last of them is there; of one, one after the other. Each: the median of a start. What takes longer: the first of it, with its share of all that is waited for longer than by one alone in the same rounds; of one, its share of the start. %s", rounds))
	if how := tracingOf(x.Rows); how != "" {
		d.Legend(how)
	}
	for _, r := range x.Rows {
		if r.Lost > 0 {
			d.Para(fmt.Sprintf("Of %s, %d at once, the kernel had %s.", words.Clean(r.What), r.AtOnce, noRoom(r.Lost)))
		}
	}
	for _, why := range x.Lacking {
		d.Para("Not here: " + words.Clean(why))
	}
}

// tracingOf says what following the starts of all rows cost them.
func tracingOf(rows []timeline.RateRow) string {
	var times []float64
	for _, r := range rows {
		if r.Overhead > 0 {
			times = append(times, r.Overhead)
		}
	}
	if len(times) == 0 {
		return ""
	}
	slices.Sort(times)
	s := fmt.Sprintf("Tracing makes a start %.3f × as long", stats.Median(times))
	if n := len(times); n > 1 {
		s += fmt.Sprintf(", the median of the rows (%.3f to %.3f)", times[0], times[n-1])
	}
	return s + "."
}

// mostly names what is waited for most, if it is a twentieth at least.
func mostly(r timeline.RateRow) string {
	if len(r.Most) == 0 || r.Most[0].Share < 0.05 {
		return ""
	}
	return fmt.Sprintf("%.0f %% %s", 100*r.Most[0].Share, words.Clean(r.Most[0].Name))
}
