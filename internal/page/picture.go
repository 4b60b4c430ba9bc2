package page

import (
	"html/template"

	"plimsoll/internal/view"
)

// picture is the ranking as a picture, for readers without JavaScript: as data
// of an img, where nothing in it can run. Empty is none.
func picture(_ *view.Data) (template.URL, error) {
	// plot.Draw(&b, "svg", "ranking", d, plot.Options{}) belongs here.
	return "", nil
}
