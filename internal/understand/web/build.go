package web

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/view"
)

// build makes what a page draws.
func build(r *record.Reader) (*view.Data, error) { return view.Build(r, view.Options{}) }
