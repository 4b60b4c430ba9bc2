package page

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html/template"

	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/view"
)

// picture is the ranking as a picture, or what an engine is made of, for readers without JavaScript: as data
// of an img, where nothing in it can run. Empty is none.
func picture(d *view.Data) (template.URL, error) {
	var b bytes.Buffer
	chart := "ranking"
	if len(d.Ablations) > 0 { // what was taken away is nobody's choice as it stands
		chart = "waterfall"
	}
	switch err := plot.Draw(&b, "svg", chart, d, plot.Options{}); {
	case errors.Is(err, plot.ErrNoData):
		return "", nil
	case err != nil:
		return "", err
	}
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(b.Bytes())), nil //nolint:gosec // base64
}
