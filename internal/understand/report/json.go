package report

import (
	"encoding/json"
	"io"

	"plimsoll/internal/understand/analyze"
)

// writeJSON writes the whole result, whatever the options: analyze.Result
// documents every field, and "schema" says which version it is. Nothing needs
// cleaning here, since JSON escapes control characters.
func writeJSON(w io.Writer, res *analyze.Result, _ Options) error {
	return encode(w, res)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
