package page

import (
	"bytes"
	_ "embed" // the page's parts
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"

	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/timeline"
	"plimsoll/internal/understand/words"
)

//go:embed web/lanes.html
var lanesSource string

//go:embed web/lanes.css
var lanesStyle []byte

//go:embed web/lanes.js
var lanesScript []byte

var lanesPage = template.Must(template.New("lanes").Parse(lanesSource))

// lanesContent is the data of the document.
type lanesContent struct {
	Title, Took, Policy string
	Style               template.CSS
	Script              template.JS
	Data                template.JS
	Stages              []lanesStage
}

// lanesStage is a row of the table for readers without a script.
type lanesStage struct{ At, Long, Shorter, Who, Why string }

// WriteLanes writes the course of one start, the median, as one HTML file: lanes that
// can be zoomed, and the same as a table.
func WriteLanes(w io.Writer, x *timeline.Explanation) error {
	if x.Median == nil {
		return errors.New("no start was followed, so there is no course to draw: " + x.Lacks)
	}
	c := lanesContent{
		Title: "Where the time of a start goes: " + words.Clean(x.What), Policy: policy(lanesStyle, lanesScript),
		Took:  fmt.Sprintf("This start took %s; the median of %s is %s.", words.Amount(float64(x.Median.Span), "ns"), words.Plural(x.Starts, "start"), words.Amount(x.NS, "ns")),
		Style: template.CSS(lanesStyle), Script: template.JS(lanesScript), //nolint:gosec // our own, from the program itself
	}
	if how := report.Tracing(x); how != "" {
		c.Took += " " + how
	}
	for _, s := range x.Median.Stages(x.Median.Span / 100) {
		c.Stages = append(c.Stages, lanesStage{
			fmt.Sprintf("%.2f", float64(s.From)/1e6), fmt.Sprintf("%.2f", float64(s.To-s.From)/1e6), fmt.Sprintf("%.2f", float64(s.Shorter)/1e6),
			words.Clean(s.Program), fmt.Sprintf("%s (%.0f %%)", words.Clean(s.Why), 100*s.Share),
		})
	}
	l := x.Median.Lanes()
	l.What = words.Clean(l.What)
	clean(l.Way)
	for i := range l.Threads {
		l.Threads[i].Name = words.Clean(l.Threads[i].Name)
		clean(l.Threads[i].Bars)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(l); err != nil { // it escapes <, > and &
		return fmt.Errorf("writing the lanes: %w", err)
	}
	c.Data = template.JS(b.String()) //nolint:gosec // JSON in which no text can end its element
	return lanesPage.Execute(w, c)
}

func clean(bars []timeline.Bar) {
	for i := range bars {
		bars[i].Who, bars[i].Why, bars[i].By = words.Clean(bars[i].Who), words.Clean(bars[i].Why), words.Clean(bars[i].By)
	}
}
