package workload

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

var update = flag.Bool("update", false, "write the values of the golden outputs anew")

// golden stands beside NAME.txt, the real output of a workload's last role:
// which workload that was, with which parameters (the others have their
// default), and the values that must come out.
type golden struct {
	Workload   string             `json:"workload"`
	Parameters map[string]string  `json:"parameters,omitempty"`
	Values     map[string]float64 `json:"values"`
}

func goldens(t testing.TB) map[string]golden {
	t.Helper()
	files, err := filepath.Glob("testdata/output/*.json")
	require.NoError(t, err)
	out := map[string]golden{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		var g golden
		if err := json.Unmarshal(b, &g); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[strings.TrimSuffix(f, ".json")] = g
	}
	return out
}

func planOf(t testing.TB, name string, params map[string]string) *Plan {
	t.Helper()
	w, err := Find(name)
	require.NoError(t, err)
	i, err := w.Instance(params)
	require.NoError(t, err)
	if i.Plan == nil {
		t.Fatalf("%s is no workload of a file", name)
	}
	return i.Plan
}

func TestGoldenOutput(t *testing.T) {
	require.NoError(t, Broken())
	seen, ran := map[string]bool{}, map[string]bool{}
	all := goldens(t)
	for _, base := range slices.Sorted(maps.Keys(all)) {
		g := all[base]
		t.Run(filepath.Base(base), func(t *testing.T) {
			ran[base] = true
			p := planOf(t, g.Workload, g.Parameters)
			out, err := os.ReadFile(base + ".txt")
			require.NoError(t, err)
			got, err := p.Values(map[string][]byte{p.Roles[len(p.Roles)-1].Name: out})
			require.NoError(t, err)
			if *update {
				g.Values = got
				b, err := json.MarshalIndent(g, "", "  ")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(base+".json", append(b, '\n'), 0o600))
			}
			if !maps.Equal(got, g.Values) {
				t.Errorf("got %v, want %v", got, g.Values)
			}
			for _, x := range p.Metrics {
				seen[way(x)] = true
			}
		})
	}
	if len(ran) < len(all) {
		return // only some were asked for
	}
	// Every metric has been read from real output: its own, or that of another
	// workload that prints the same.
	for _, w := range Catalogue() {
		if w.file == nil {
			continue
		}
		for i := range w.file.Metrics {
			if x := w.file.Metrics[i].extract(); !seen[way(x)] {
				t.Errorf("%s: no golden output below testdata/output has the metric %s", w.Name, x.Metric.ID)
			}
		}
	}
}

// way is how a metric comes out of the output.
func way(x Extract) string {
	return fmt.Sprint(x.Metric.ID, " ", x.JSON, x.Regexp, x.Parser, " ", x.Key, " ", x.Scale, x.All)
}

// FuzzValues gives hostile output to the metrics of every workload: there are
// values that make sense, or an error.
func FuzzValues(f *testing.F) {
	var plans []*Plan
	for base, g := range goldens(f) {
		out, err := os.ReadFile(base + ".txt")
		require.NoError(f, err)
		f.Add(out)
		f.Add(out[:len(out)/2])
		plans = append(plans, planOf(f, g.Workload, g.Parameters))
	}
	for _, s := range []string{
		"", "{", "null", `{"end":{"sum_received":{"bits_per_second":1e999}}}`, `{"end":{"sum_received":{"bits_per_second":-1}}}`,
		strings.Repeat("[", 20000), strings.Repeat(`{"end":`, 9000), "NaN", "avg: 99999999999999999999999999", "\x00\xff",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, p := range plans {
			values, err := p.Values(map[string][]byte{p.Roles[len(p.Roles)-1].Name: out})
			if err != nil {
				continue
			}
			for _, x := range p.Metrics {
				v, ok := values[x.Metric.ID]
				if !ok || !(v >= 0 && v <= largest) {
					t.Errorf("metric %s of %q is %g (%v)", x.Metric.ID, out, v, ok)
				}
			}
		}
	})
}
