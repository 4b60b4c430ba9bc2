package report

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/evaluate"
)

// Ratios of a table stand below it, theirs apart from ours, and those without one
// of ours are counted.
func TestPaperRatios(t *testing.T) {
	s := recordtest.Paper()
	s.Parts, s.Tables[0].Images = nil, nil // every environment has hello, and those without an image stand for these
	s.Tables[0].Ratios = []record.PaperPair{{Of: "docker", To: "podman"}, {Of: "docker", To: "balena"}}
	res, err := evaluate.Run(s.Open(t), evaluate.Options{})
	require.NoError(t, err)
	for format, want := range map[string][]string{
		"text":     {"Ratios there and here: Table 3", "docker over podman", "(1.17 ×)", "1.49 ×", "open", "more ratios without a counterpart here"},
		"markdown": {"*1.17 ×*", "| 1.49 ×", "docker over podman"},
		"json":     {`"ratios"`, `"to": "podman"`},
	} {
		var b strings.Builder
		require.NoError(t, papersFormats.Write(&b, format, res, Options{}))
		text := b.String()
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", format, w, text)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if format == "text" && len([]rune(line)) > defaultWidth {
				t.Errorf("too wide: %s", line)
			}
		}
	}
}
