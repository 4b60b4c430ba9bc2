package published

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// What the page says of Geekbench's tests that scale is what the published
// values give: the geometric mean over the tests that are at least three times
// as fast with four threads as with one, natively, and over all.
func TestScalableSubset(t *testing.T) {
	page, err := os.ReadFile("../../../docs/studies/silva2024.md")
	require.NoError(t, err)
	score := func(engine, test, metric string) float64 {
		of := Find(Query{Source: "silva2024", Table: "Figure 4", Engine: engine, Workload: test, Metric: metric})
		if len(of) != 1 {
			t.Fatalf("%s of %s with %s has %d values, expected one", metric, test, engine, len(of))
		}
		return of[0].Value
	}
	var all, scale, n, scaling float64
	for _, v := range Find(Query{Source: "silva2024", Table: "Figure 4", Engine: "native", Metric: "multi-core-score"}) {
		if v.Workload == "geekbench6/avg" {
			continue
		}
		lost := math.Log(score("docker", v.Workload, v.Metric) / v.Value)
		all, n = all+lost, n+1
		if v.Value >= 3*score("native", v.Workload, "single-core-score") {
			scale, scaling = scale+lost, scaling+1
		}
	}
	if n != 16 || scaling != 12 {
		t.Errorf("%g tests, of which %g scale, expected 16 and 12", n, scaling)
	}
	want := fmt.Sprintf("with several cores is %.1f %%, over all sixteen it is %.1f %%", 100*(1-math.Exp(scale/scaling)), 100*(1-math.Exp(all/n)))
	if !strings.Contains(string(page), want) {
		t.Errorf("docs/studies/silva2024.md does not say %q, which the published values give", want)
	}
}
