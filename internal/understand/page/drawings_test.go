package page

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/view"
)

// The page of a paper's study has each of its figures, as a picture or with the
// reason why there is none, and the curves that the run has.
func TestDrawings(t *testing.T) {
	s := recordtest.Paper()
	small := s.Workloads[1]
	small.ID, small.Params = "redis/tiny", map[string]string{"requests": "1000"}
	s.Workloads = append(s.Workloads, small)
	s.Parts = nil
	var b bytes.Buffer
	d, err := view.Build(s.Open(t), view.Options{})
	if err == nil {
		err = write(&b, d, nil, nil)
	}
	require.NoError(t, err)
	text := b.String()
	pictures := regexp.MustCompile(`<figure class="drawing"><img src="data:image/svg(?:\+|&#43;)xml;base64,([^"]+)"`).FindAllStringSubmatch(text, -1)
	var titles []string
	for _, p := range pictures {
		svg, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(p[1], "&#43;", "+"))
		require.NoError(t, err)
		_, rest, _ := strings.Cut(string(svg), "<title>")
		title, _, _ := strings.Cut(rest, "</title>")
		titles = append(titles, title)
	}
	if got := strings.Join(titles, "; "); got != "Over requests; Start-up of one container; Shutdown of one container; Difference to native, by application" {
		t.Errorf("pictures: %s", got)
	}
	if !strings.Contains(text, "Not drawn: this run has no") || strings.Count(text, "<h3>") < len(d.Figures) {
		t.Errorf("what is not drawn is not there")
	}
}

// Without a paper and without a curve there is no such section.
func TestNoDrawings(t *testing.T) {
	var b bytes.Buffer
	s := recordtest.Typical()
	s.Workloads = []record.Workload{s.Workloads[0]}
	d, err := view.Build(s.Open(t), view.Options{})
	if err == nil {
		err = write(&b, d, nil, nil)
	}
	if err != nil || strings.Contains(b.String(), `id="figures"`) {
		t.Errorf("%v, or a section of no figures", err)
	}
}
