//go:build linux && !unit

// Package inbrowser_test holds the tests of the page that need a browser: those of the
// package page itself are linked without what speaks to one.
package inbrowser_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/page"
	"plimsoll/internal/understand/page/browsertest"
	"plimsoll/internal/understand/page/browsertest/seen"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// The report as a reader has it: opened from a file in Chromium. A small run and
// one of 100 000 trials in 60 environments; one browser for all.
func TestBrowser(t *testing.T) {
	b := browsertest.Begin(t)
	small := made(t, viewtest.Small)
	large := made(t, viewtest.HundredThousand)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *browsertest.Browser, report)
		of   []report
	}{
		{"drawn", drawn, []report{small, large}},
		{"filters", filters, []report{small, large}},
		{"trials", trials, []report{small}},
		{"exports", exports, []report{small, large}},
		{"keyboard", keyboard, []report{small, large}},
		{"accessible", accessible, []report{small, large}},
		{"layout", layout, []report{small, large}},
		{"print", printed, []report{large}},
		{"plain", plain, []report{small}},
	} {
		for _, r := range c.of {
			t.Run(c.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				c.run(t, b, r)
			})
		}
	}
	t.Run("hostile", func(t *testing.T) {
		t.Parallel()
		hostile(t, b)
	})
}

// report is a run's page on disk.
type report struct {
	name, path string
	data       *view.Data
}

// large says whether it is the one whose every part takes its time.
func (r report) large() bool { return len(r.data.Envs) > 20 }

func made(t *testing.T, s viewtest.Spec) report {
	t.Helper()
	data := must(s.Data(filepath.Join(t.TempDir(), "run")))(t)
	data.Ablations = takenApart(data)
	x := course(t)
	data.Courses = []view.Course{{Env: 2, Starts: 1, NS: x.NS, Lanes: x.Median.Lanes(), Stages: []view.Stage{{From: 10e6, NS: 25e6, Shorter: 12.5e6, Who: hostileName, Why: "journal on the disk (fsync)", Share: 1}}}}
	return written(t, fmt.Sprintf("%d-environments", s.Envs), data)
}

// takenApart is an engine of which something was taken away, with steps of all kinds.
func takenApart(data *view.Data) []*ablation.Waterfall {
	e := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	level := func(v float64) ablation.Level { return ablation.Level{Env: data.Envs[0].ID, Median: e(v, 1e6)} }
	step := func(kind ablation.Kind, what string, chain, left float64) ablation.Step {
		after := level(left)
		return ablation.Step{Kind: kind, Of: "docker", Mechanism: what, Title: "the " + what, Price: "a <b>price</b>", Chain: e(chain, 1e6), Share: chain / 1e8, After: &after, Alone: e(chain, 2e6)}
	}
	metric, _ := record.MetricByID("startup")
	w := &ablation.Waterfall{
		Engine: "docker", Workload: data.Works[0].ID, Metric: metric, Blocks: 20, Base: level(1e8), Floor: level(1e6), Whole: e(99e6, 1e6),
		Steps: []ablation.Step{step(ablation.Mechanism, "network", 6e7, 4e7), step(ablation.Mechanism, "keyring", -1e6, 41e6),
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "seccomp", Missing: "it is not there"},
			step(ablation.Engine, "oci", 2e7, 21e6), step(ablation.Last, "floor", 2e7, 1e6)},
		HeldOut: []ablation.HeldOut{{Env: data.Envs[0].ID, Mechanisms: []string{"network", "keyring"}, Measured: e(5e7, 1e6), Off: e(1e6, 2e6), Fits: true}},
	}
	w.Observe(&record.Timeline{Engine: w.Engine, Workload: w.Workload, Metric: metric.ID, Starts: 10, Mechanisms: []record.Observed{
		{Mechanism: "network", With: 1e8, Without: 4e7, Gone: 5e7, Else: 1e7, Steps: []record.ObservedStep{{Name: "<b>dockerd</b>: in mount", With: 5e7}, {Name: "runc: page faults", With: 2e7, Without: 1e7}}}}})
	return []*ablation.Waterfall{w}
}

func written(t *testing.T, name string, data *view.Data) report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	f := must(os.Create(path))(t)
	require.NoError(t, errors.Join(page.Write(f, data), f.Close()))
	return report{name, path, data}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

// show opens a report and waits until it has its charts. Whatever goes wrong in
// it until the test's end fails the test.
func show(t *testing.T, b *browsertest.Browser, r report, o browsertest.Options) *browsertest.Page {
	t.Helper()
	return showAt(t, b, r.path, o)
}

func showAt(t *testing.T, b *browsertest.Browser, address string, o browsertest.Options) *browsertest.Page {
	t.Helper()
	p := must(b.Open(address, o))(t)
	t.Cleanup(func() {
		defer p.Close()
		if problems, err := p.Problems(); err != nil || len(problems) > 0 {
			t.Errorf("the page has problems: %s %v", strings.Join(problems, "\n"), err)
		}
	})
	if !o.NoScript {
		try(t, p.Wait(`document.body.dataset.shown`))
	}
	return p
}

func try(t testing.TB, err error) {
	t.Helper()
	require.NoError(t, err)
}

func eval[T any](t testing.TB, p *browsertest.Page, expression string) T {
	t.Helper()
	return must(browsertest.Eval[T](p, expression))(t)
}

// none fails for each of the things found.
func none(t *testing.T, what string) func([]string, error) {
	return func(found []string, err error) {
		t.Helper()
		require.NoError(t, err)
		for i, f := range found {
			if i == 10 {
				t.Errorf("%s: and %d more", what, len(found)-i)
				break
			}
			t.Errorf("%s: %s", what, f)
		}
	}
}

// charts are the names of the page's charts.
func charts(t *testing.T, p *browsertest.Page) []string {
	t.Helper()
	names := eval[[]string](t, p, `[...document.querySelectorAll("figure.chart")].map(f => f.dataset.chart)`)
	if len(names) < 4 {
		t.Fatalf("the page has the charts %q only", names)
	}
	return names
}

// bring brings a chart into view and waits until it is drawn.
func bring(t *testing.T, p *browsertest.Page, chart string) {
	t.Helper()
	must(p.Box("#chart-" + chart))(t)
	try(t, p.Wait(`document.querySelector("#chart-`+chart+`").dataset.drawn`))
}

// look brings a chart into view and looks at it.
func look(t *testing.T, p *browsertest.Page, chart string) seen.Look {
	t.Helper()
	bring(t, p, chart)
	return must(p.Look("#chart-" + chart + " .canvas"))(t)
}

var number = regexp.MustCompile(`\d`)

// drawn: each chart is there to see, and says its main numbers to who does not.
func drawn(t *testing.T, b *browsertest.Browser, r report) {
	p := show(t, b, r, browsertest.Options{})
	said(t, r.data, eval[string](t, p, `document.body.innerText`))
	none(t, "elements of the same id")(browsertest.Eval[[]string](p, `(all => all.filter((id, i) => all.indexOf(id) !== i))([...document.querySelectorAll("[id]")].map(e => e.id))`))
	if row := eval[string](t, p, `[...document.querySelectorAll("#course-stages thead, #course-stages tbody tr")].map(e => e.innerText.trim().replace(/\s+/g, " ")).join(" | ")`); !strings.HasPrefix(row, "at, ms ms shorter, ms who most of it | 10.00 25.00 12.50 client") {
		t.Errorf("the table of a start's course reads %q", row)
	}
	must(p.Box("#lanes"))(t)
	if l := must(p.Look("#lanes canvas"))(t); !l.Drawn() {
		t.Errorf("the lanes are not drawn: %+v", l)
	}
	for _, name := range charts(t, p) {
		if l := look(t, p, name); !l.Drawn() {
			t.Errorf("the chart %s is not drawn: %+v", name, l)
		}
		of := `document.querySelector("#chart-` + name + ` .canvas")`
		if said := eval[string](t, p, of+`.getAttribute("role") + ": " + `+of+`.getAttribute("aria-label")`); !strings.HasPrefix(said, "img: ") || !number.MatchString(said) || len(said) < 40 {
			t.Errorf("the chart %s is called %q", name, said)
		}
	}
}
