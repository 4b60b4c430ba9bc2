package plot

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/understand/view"
)

func svgOf(t *testing.T, d *view.Data, chart string, o Options) *element {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Draw(&b, "svg", chart, d, o))
	return parse(t, b.Bytes())
}

func curvesOf(root *element) map[string]*element {
	out := map[string]*element{}
	for _, g := range root.all("g") {
		if g.attrs["class"] == "curve" {
			out[g.attrs["data-env"]] = g
		}
	}
	return out
}

// Each environment has a glyph and a whisker for each level that it has a value
// at, in its place, and no line across a level that it has none at.
func TestParameter(t *testing.T) {
	by := curvesOf(svgOf(t, made(), "parameter", Options{}))
	if len(by) != 5 || by["broken"] != nil {
		t.Fatalf("%d curves", len(by))
	}
	whole, cut := by["docker/runsc"], by["docker/runc"]
	if n := len(whole.all("circle")); n != 3 {
		t.Errorf("%d points, not 3", n)
	}
	if n := len(cut.all("circle")); n != 2 || !strings.Contains(cut.all("title")[0].text, "10MB n/a") {
		t.Errorf("%d points: %s", n, cut.all("title")[0].text)
	}
	// A whisker is a line and two ends.
	if n := len(whole.all("line")); n != 9 {
		t.Errorf("%d lines of whiskers, not 9", n)
	}
	// Both axes are logarithmic: equal ratios are equal distances.
	c := whole.all("circle")
	for _, axis := range []string{"cx", "cy"} {
		first, second := c[1].num(t, axis)-c[0].num(t, axis), c[2].num(t, axis)-c[1].num(t, axis)
		if d := first - second; d > 0.05 || d < -0.05 || first == 0 {
			t.Errorf("%s: %g and %g", axis, first, second)
		}
	}
}

func TestParameterChoice(t *testing.T) {
	d := made()
	svgOf(t, d, "parameter", Options{Workload: "read", Over: "size", Metric: "read-time"})
	svgOf(t, d, "parameter", Options{Workload: "read/1MB"})
	for _, c := range []struct {
		o      Options
		want   string
		noData bool
	}{
		{Options{Over: "count"}, "there are read over size", false},
		{Options{Workload: "echo"}, "there are read over size", false},
		{Options{Metric: "nope"}, `no metric "nope": there are read-time`, false},
	} {
		err := Draw(&bytes.Buffer{}, "svg", "parameter", d, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNoData) != c.noData {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	d.Works = d.Works[:1]
	if err := Draw(&bytes.Buffer{}, "svg", "parameter", d, Options{}); !errors.Is(err, ErrNoData) {
		t.Errorf("%v", err)
	}
}
