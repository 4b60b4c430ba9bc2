//go:build linux

package cli

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/report"
)

// releasesOf tells of a run that plimsoll releases began and plimsoll run --resume has
// finished, so that it ends with the same table; nil for other runs, and for a format
// that the table has not.
func releasesOf(dir string, f reportFlags) func(w World, res *analyze.Result) error {
	from, err := openRun(dir)
	if err != nil {
		return nil
	}
	st := from.Run().Study
	if !strings.HasPrefix(st.Command, "plimsoll releases ") || !slices.Contains(report.Releases.Formats(), f.format) {
		return nil
	}
	x := releasesFlags{printing: printing{format: f.format, style: f.style}, threshold: fmt.Sprintf("%g%%", 100*releases.Threshold)}
	words := strings.Fields(st.Command)
	if i := slices.Index(words, "--threshold"); i >= 0 && i+1 < len(words) {
		x.threshold = words[i+1] // as it was asked for
	}
	return func(w World, res *analyze.Result) error { return x.tell(w, res, dir, st.Metrics) }
}
