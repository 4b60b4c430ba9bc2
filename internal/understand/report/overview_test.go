package report

import (
	"bytes"
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
)

// TestOverview: from four workloads on the text begins with one line for each.
func TestOverview(t *testing.T) {
	s := recordtest.Typical()
	one := s.Workloads[0]
	for _, c := range []struct {
		workloads int
		want      bool
	}{{3, false}, {4, true}} {
		s.Workloads = nil
		for i := range c.workloads {
			w := one
			w.ID = one.ID + strings.Repeat("x", i)
			w.Title = ""
			s.Workloads = append(s.Workloads, w)
		}
		res := result(t, s)
		var text, md bytes.Buffer
		if err := Write(&text, "text", res, Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		if err := Write(&md, "markdown", res, Options{}); err != nil {
			t.Fatal(err)
		}
		for name, out := range map[string]string{"text": text.String(), "markdown": md.String()} {
			if got := strings.Contains(out, "Overview"); got != c.want {
				t.Errorf("%s, %d workloads: overview %v", name, c.workloads, got)
			}
		}
		if c.want {
			_, after, _ := strings.Cut(text.String(), "Overview\n")
			lines := strings.Split(after, "\n")
			t.Log("\n" + strings.Join(lines[:6], "\n"))
			if !strings.Contains(lines[0], "native") || strings.Count(lines[1], ".") < 3 {
				t.Errorf("%q", lines[:2])
			}
		}
	}
}
