package page

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/view"
)

// What the verdict is about is what stands in the table and in the picture
// beside it; and there is a heat map though native has nothing of the first
// metric to show.
func TestOneMetricFirst(t *testing.T) {
	for sort, want := range map[string]string{"": "create", "bootstrap": "bootstrap"} {
		s := recordtest.Typical()
		s.Blocks, s.PerBlock = 6, 1
		r := s.Open(t)
		r.Run().Study.Metrics, r.Run().Study.Sort = []string{"create", "execution", "bootstrap"}, sort
		d, err := view.Build(r, view.Options{})
		require.NoError(t, err)
		page, err := newStatic(d)
		require.NoError(t, err)
		svg, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(page.Picture), "data:image/svg+xml;base64,"))
		require.NoError(t, err)
		m, _ := record.MetricByID(want)
		title := strings.ToLower(m.Title)
		for where, text := range map[string]string{"the verdict": page.Verdict[0], "the table": page.Rankings[0].Title, "the picture": string(svg)} {
			if !strings.Contains(strings.ToLower(text), title) {
				t.Errorf("sorted by %q: %s is not about %s: %.300s", sort, where, title, text)
			}
		}
		var b bytes.Buffer
		if err := plot.Draw(&b, "svg", "heatmap", d, plot.Options{}); err != nil {
			t.Errorf("sorted by %q: %v", sort, err)
		}
	}
}
