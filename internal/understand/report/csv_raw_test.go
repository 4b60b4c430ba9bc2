package report

import (
	"strings"
	"testing"

	"plimsoll/internal/common/csvfile"
	"plimsoll/internal/record/recordtest"
)

// TestFormulas: a name that a spreadsheet would execute is text in the CSV, and as it is
// with --raw-csv.
func TestFormulas(t *testing.T) {
	res := fresh(t, recordtest.Typical())
	res.Run.Study = `=cmd|' /C calc'!A0`
	for raw, want := range map[bool]string{false: `,'` + res.Run.Study, true: `,` + res.Run.Study} {
		if text := render(t, "csv", res, Options{CSV: csvfile.Options{Raw: raw}}); !strings.Contains(text, want) {
			t.Errorf("raw %v: no %s in\n%.400s", raw, want, text)
		}
	}
}
