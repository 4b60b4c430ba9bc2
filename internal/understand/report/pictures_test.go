package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// picture reads an SVG: the attributes of each element that has an id, and
// what is wrong with it as a picture of the manual.
func picture(t *testing.T, path string) (byID map[string]map[string]string, wrong []string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	byID = map[string]map[string]string{}
	have := map[string]bool{}
	dec := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, []string{err.Error()}
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		have[e.Name.Local] = true
		attrs := map[string]string{}
		for _, a := range e.Attr {
			attrs[a.Name.Local] = a.Value
			if a.Name.Local == "href" || strings.Contains(a.Value, "url(") {
				wrong = append(wrong, "it refers to "+a.Value)
			}
		}
		byID[attrs["id"]] = attrs
	}
	for _, need := range []string{"title", "desc", "style"} {
		if !have[need] {
			wrong = append(wrong, "it has no "+need)
		}
	}
	for _, never := range []string{"script", "image", "foreignObject", "use"} {
		if have[never] {
			wrong = append(wrong, "it has a "+never)
		}
	}
	// Light and dark, with the reader's own fonts.
	if s := string(b); !strings.Contains(s, "prefers-color-scheme: dark") || strings.Contains(s, "@font-face") || strings.Contains(s, "@import") {
		wrong = append(wrong, "it is not for light and dark pages, or brings a font")
	}
	return byID, wrong
}

// TestPictures: the manual's pictures stand alone, and each is in a page.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("../../../docs/pictures/*.svg")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d pictures: %v", len(files), err)
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	var manual []byte
	for _, p := range pages {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		manual = append(manual, b...)
	}
	for _, f := range files {
		if _, wrong := picture(t, f); len(wrong) > 0 {
			t.Errorf("%s: %s", f, strings.Join(wrong, "; "))
		}
		if !strings.Contains(string(manual), "](pictures/"+filepath.Base(f)+")") {
			t.Errorf("%s is in no page", f)
		}
	}
}

// TestLifeCyclePicture: each metric of the life cycle is drawn from its first
// event to its last, events in their order, those of the payload inside.
func TestLifeCyclePicture(t *testing.T) {
	byID, _ := picture(t, "../../../docs/pictures/life-cycle.svg")
	drawn := 0
	for _, m := range record.LifeCycle {
		from, to, line := byID["event-"+string(m.From)], byID["event-"+string(m.To)], byID["metric-"+m.ID]
		if from == nil || to == nil {
			continue // a step that few engines have
		}
		if drawn++; line == nil || line["x1"] != from["cx"] || line["x2"] != to["cx"] {
			t.Errorf("%s is not drawn from %s to %s: %v", m.ID, m.From, m.To, line)
		}
	}
	if drawn != 10 {
		t.Errorf("%d metrics are drawn, not 10", drawn)
	}
	last := ""
	for _, e := range record.Events {
		c := byID["event-"+string(e)]
		if c == nil {
			continue
		}
		if len(c["cx"]) < len(last) || len(c["cx"]) == len(last) && c["cx"] <= last {
			t.Errorf("%s is drawn before an earlier event", e)
		}
		last = c["cx"]
		if (c["cy"] == byID["event-first"]["cy"]) != e.Inside() {
			t.Errorf("%s stands on the wrong side", e)
		}
	}
}
