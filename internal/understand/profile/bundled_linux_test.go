package profile

import (
	"errors"
	"os"
	"slices"
	"testing"

	catalogue "plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
)

// The bundled profiles are those in the folder, and ask for what the catalogue
// of workloads has.
func TestBundled(t *testing.T) {
	files, err := os.ReadDir("catalogue")
	if err != nil || len(files) != len(Names()) {
		t.Fatalf("%d files, %d names: %v", len(files), len(Names()), err)
	}
	for i, p := range all(t) {
		if p.Name != Names()[i] || p.What == "" || p.Study == "" || len(p.Require)+len(p.Prefer) == 0 {
			t.Errorf("%s: %+v", Names()[i], p)
		}
		for _, c := range p.Criteria {
			w, err := catalogue.Find(c.Workload)
			if err != nil {
				t.Errorf("%s: %v", c.Where, err)
				continue
			}
			params := map[string]string{}
			for k, levels := range c.Params {
				for _, l := range levels {
					if params[k] = l; !w.Takes(k, l) {
						t.Errorf("%s: %s of %s can't be %s", c.Where, k, c.Workload, l)
					}
				}
			}
			metrics := append(slices.Clone(record.LifeCycle), w.MetricsOf(params)...)
			m := slices.IndexFunc(metrics, func(m record.Metric) bool { return m.ID == c.Metric })
			if m < 0 || metrics[m].Better != c.Better {
				t.Errorf("%s: %s has no metric %s of which %s is better", c.Where, c.Workload, c.Metric, c.Better)
			}
		}
		for _, d := range slices.Concat(p.Require, p.Prefer) {
			for _, word := range d.Is {
				if !slices.Contains(advise.Words(), word) {
					t.Errorf("%s: no property %s", d.Where, word)
				}
			}
		}
	}
	if _, err := Bundled("nothing"); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}
