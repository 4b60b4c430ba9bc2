package page

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"

	"plimsoll/internal/common/published"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// drawing is a picture that the page shows with and without its script: as data
// of an img, where nothing in it can run.
type drawing struct {
	Title, Where string
	Picture      template.URL
	// Missing says why there is no picture.
	Missing string
}

// maxDrawings bounds the pictures of a page.
const maxDrawings = 24

// drawings are the curves over the parameters of the workloads, and what the
// study's paper drew.
func drawings(d *view.Data) ([]drawing, error) {
	var out []drawing
	add := func(one drawing, draw func(*bytes.Buffer) error) error {
		var b bytes.Buffer
		switch err := draw(&b); {
		case errors.Is(err, plot.ErrNoData) && one.Where == "": // no curves: nobody asked for them
			return nil
		case errors.Is(err, plot.ErrNoData):
			one.Missing = "Not drawn: this run has nothing of it."
		case err != nil:
			return err
		}
		if b.Len() > 0 {
			one.Picture = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())) //nolint:gosec // base64
		}
		out = append(out, one)
		return nil
	}
	err := add(drawing{Title: "Over the parameters of the workloads"}, func(b *bytes.Buffer) error { return plot.Draw(b, "svg", "parameter", d, plot.Options{}) })
	if err != nil {
		return nil, err
	}
	for i := range d.Figures {
		f := &d.Figures[i]
		one := drawing{Title: words.Clean(f.Title), Where: words.Clean(f.Shows)}
		if s, ok := published.SourceOf(f.Source); ok {
			one.Where = fmt.Sprintf("%s, %s", s.Key, one.Where)
		}
		if f.Missing != "" || len(out) >= maxDrawings {
			one.Missing = words.Sentence("Not drawn: " + words.Clean(f.Missing))
			if f.Missing == "" {
				one.Missing = "Not drawn: a page has no more pictures; plimsoll report DIR --figures draws it."
			}
			out = append(out, one)
			continue
		}
		if err := add(one, func(b *bytes.Buffer) error { return plot.DrawFigure(b, "svg", f, d, plot.Options{}) }); err != nil {
			return nil, err
		}
	}
	return out, nil
}
