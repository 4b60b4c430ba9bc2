package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plimsoll/internal/common/csvfile"
	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/factors"
)

// opener is a synthetic run.
type opener interface {
	Open(tb testing.TB) *record.Reader
}

func render(t testing.TB, format string, res *analyze.Result, opts Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, format, res, opts))
	return b.String()
}

func values() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = s.Envs[:6]
	s.Blocks, s.PerBlock, s.Warmup = 4, 1, 0
	s.Workloads[0].Metrics = []record.Metric{{ID: "events", Unit: "1/s", Better: record.HigherIsBetter, Title: "events", What: "events per second"}}
	for i, v := range []float64{1000, 990, 985, 960, 700, 12} {
		s.Envs[i].Values = map[string]float64{"events": v}
	}
	return s
}

// small is a run that fits on a page, with an environment of each fate: two
// baselines, one that ran, one with a clock of its own, one that failed at times,
// one always, and one that could not run.
func small() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[2], s.Envs[5], s.Envs[6], s.Envs[10], s.Envs[11]}
	s.Excluded, s.Blocks = s.Excluded[:1], 8
	return s
}

func long() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = s.Envs[:8]
	s.Blocks, s.PerBlock = 20, 20
	return s
}

// few is a run that is too short for intervals of ratios.
func few() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = s.Envs[:6]
	s.Blocks, s.PerBlock, s.StealEvery = 2, 1, 0
	return s
}

// pull has metrics of its own, most of them sizes, one better when higher.
func pull() recordtest.Spec {
	s := recordtest.Typical()
	s.Name, s.Envs, s.StealEvery = "pull", s.Envs[6:9], 0
	m := func(id, unit string, better record.Direction, what string) record.Metric {
		return record.Metric{ID: id, Unit: unit, Better: better, Title: id, What: what}
	}
	s.Workloads = []record.Workload{{ID: "pull", Name: "pull", Title: "pull", Metrics: []record.Metric{
		m("transfer", "ns", record.LowerIsBetter, "until all bytes are here"),
		m("disk", "bytes", record.LowerIsBetter, "allocated on disk"),
		m("rate", "bytes/s", record.HigherIsBetter, "bytes a second"),
		m("compressed", "bytes", record.LowerIsBetter, "what is transferred"),
		m("shared", "bytes", record.HigherIsBetter, "shared with other images"),
	}}}
	for i := range s.Envs {
		k := float64(i + 1)
		s.Envs[i].Values = map[string]float64{"transfer": k * 3e8, "disk": k * 7e7, "rate": 4e7 / k, "compressed": 2.2e6}
	}
	s.Envs[0].Values["shared"] = 5e4
	return s
}

// steps has one environment with the events of a pod and one with those of a
// system container.
func steps() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs, s.StealEvery = s.Envs[1:6], 0
	s.Envs[3].More = map[record.Event]float64{record.Sandbox: 0.4}
	s.Envs[4].More = map[record.Event]float64{record.Start: 0.2, record.Init: 0.5, record.Exec: 0.8}
	return s
}

// isGolden compares with a file in testdata.
func isGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Check(t, filepath.Join("testdata", name), got)
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name, format string
		spec         opener
		opts         Options
	}{
		{"typical.txt", "text", recordtest.Typical(), Options{}},
		{"small-metric.txt", "text", small(), Options{ASCII: true, Metric: "whole", Sort: "startup"}},
		{"small-plan.txt", "text", small(), Options{Color: true, NoPlot: true, Sort: planOrder}},
		{"values.txt", "text", values(), Options{}},
		{"long.txt", "text", long(), Options{}},
		{"few.txt", "text", few(), Options{}},
		{"pull.txt", "text", pull(), Options{}},
		{"steps.txt", "text", steps(), Options{NoPlot: true}},
		{"audit.txt", "text", recordtest.Audited(), Options{Audit: true}},
		{"audit.md", "markdown", recordtest.Audited(), Options{Audit: true}},
		{"audited.txt", "text", recordtest.Audited(), Options{NoPlot: true}},
		{"overhead.txt", "text", recordtest.Suite(), Options{Overhead: AnyBaseline}},
		{"overhead-60.txt", "text", recordtest.Suite(), Options{Overhead: "native", Width: 60, ASCII: true}},
		{"overhead.md", "markdown", recordtest.Suite(), Options{Overhead: "native"}},
		{"overhead.csv", "csv", recordtest.Suite(), Options{Overhead: "native"}},
		{"overhead-typical.txt", "text", recordtest.Typical(), Options{Overhead: "floor"}},
		{"typical.md", "markdown", recordtest.Typical(), Options{}},
		{"typical.tex", "latex", recordtest.Typical(), Options{}},
		{"small.csv", "csv", small(), Options{}},
	} {
		got := render(t, c.format, result(t, c.spec), c.opts)
		isGolden(t, c.name, got)
	}
}

// unbalanced is a matrix that lacks one environment, which always failed, and
// has another that failed in some blocks.
func unbalanced() recordtest.MatrixSpec {
	s := recordtest.Matrix()
	s.Envs[4].FailEvery, s.Envs[4].Class = 1, record.TimeOut
	s.Envs[7].FailEvery, s.Envs[7].Class = 5, record.Crash
	return s
}

func fewBlocks() recordtest.MatrixSpec {
	s := recordtest.Matrix()
	s.Blocks = 4
	return s
}

// TestRankingOfOne: what a metric is reads as one sentence where the workload's author
// ended it as one, and where there is nothing to explain nothing stands in its place.
func TestRankingOfOne(t *testing.T) {
	one := recordtest.Typical()
	one.Envs = one.Envs[:1]
	res := fresh(t, one)
	for i := range res.Workloads {
		for k := range res.Workloads[i].Tables {
			res.Workloads[i].Tables[k].Metric.What = "Until all is done."
		}
	}
	for _, format := range []string{"text", "markdown", "latex"} {
		var b bytes.Buffer
		require.NoError(t, Write(&b, format, res, Options{Width: 80}))
		if s := b.String(); !strings.Contains(strings.Join(strings.Fields(s), " "), "ntil all is done; lower is better") || strings.Contains(s, ".;") || strings.Contains(s, "\n\n\n") {
			t.Errorf("%s:\n%s", format, s)
		}
	}
}

func TestGoldenFactors(t *testing.T) {
	for _, c := range []struct {
		name, format string
		spec         opener
		opts         factors.Options
	}{
		{"factors.txt", "text", recordtest.Matrix(), factors.Options{}},
		{"factors.md", "markdown", recordtest.Matrix(), factors.Options{}},
		{"factors-confounded.txt", "text", recordtest.Confounded(), factors.Options{}},
		{"factors-unbalanced.txt", "text", unbalanced(), factors.Options{}},
		{"factors-few.txt", "text", fewBlocks(), factors.Options{Engines: []string{"docker"}}},
		{"factors-typical.txt", "text", recordtest.Typical(), factors.Options{}},
	} {
		res := result(t, c.spec)
		f, err := factors.Of(res, c.opts)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, WriteFactors(&b, c.format, res, []*factors.Factors{f}, Options{}))
		isGolden(t, c.name, b.String())
	}
}

// TestHostileFactors: no name of a factor, level, environment or workload
// reaches a terminal or a page as anything but text.
func TestHostileFactors(t *testing.T) {
	evil := "a\x1b[2Jb\x9b31m\r\n\x00|<script>`x`\u202e" + strings.Repeat("z", 5000)
	s := recordtest.Suite()
	s.Envs[1].ID = evil
	s.Envs[2].Levels = map[string]string{evil: evil}
	s.Workloads[2].Title, s.Workloads[0].Params = evil, map[string]string{evil: evil}
	s.Envs[3].FailEvery, s.Envs[3].Class = 1, record.Crash
	res := fresh(t, s)
	for i := range res.Workloads {
		res.Workloads[i].Counts[3].Classes[0].Text = evil
	}
	for _, format := range []string{"text", "markdown"} {
		var b bytes.Buffer
		for _, g := range factors.Groups(res) {
			f, err := factors.Of(res, factors.Options{Workload: g})
			require.NoError(t, err)
			require.NoError(t, WriteFactors(&b, format, res, []*factors.Factors{f}, Options{Width: 60}))
		}
		text := b.String() + render(t, format, res, Options{Overhead: "native", Width: 60})
		for _, bad := range []string{"\x1b", "\x00", "\u009b", "\r", "\u202e"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s lets %q through", format, bad)
			}
		}
		if format == "markdown" && strings.Contains(text, "<script>") {
			t.Error("markup in Markdown")
		}
		if format == "text" {
			for _, l := range strings.Split(text, "\n") {
				if utf8.RuneCountInString(l) > 60 {
					t.Errorf("%q is wider than the terminal", l)
				}
			}
		}
	}
}

// TestFits: whatever the width, no line is wider, and what must not be
// dropped is there.
func TestFits(t *testing.T) {
	for _, s := range []recordtest.Spec{recordtest.Typical(), values(), long()} {
		res := result(t, s)
		for w := minWidth; w <= 200; w += 3 {
			text := render(t, "text", res, Options{Width: w})
			for _, l := range strings.Split(text, "\n") {
				if utf8.RuneCountInString(l) > w {
					t.Fatalf("width %d: %q has %d", w, l, utf8.RuneCountInString(l))
				}
			}
			if !strings.Contains(text, "failed") || !strings.Contains(text, "start-up, ms") {
				t.Fatalf("width %d: no failures or no median", w)
			}
		}
	}
}

// TestHostile: what a container or a study says reaches no terminal as a
// command, no page as markup, and breaks no table.
func TestHostile(t *testing.T) {
	evil := "a\x1b[2J\x1b]0;pwned\x07b\x9b31m\r\n\x00|<script>`x`\u202e\u200b" + strings.Repeat("z", 5000)
	s := recordtest.Typical()
	s.Envs[3].ID = evil
	s.Envs[4].Unverified = true
	s.Envs[5].Levels["runtime"] = evil
	s.Workloads[0].Title = evil
	s.Excluded[0].Reason = evil
	s.Excluded[0].Fix = evil
	s.Residue = []string{evil}
	s.Name = evil
	res := fresh(t, s)
	for i := range res.Workloads[0].Counts {
		for k := range res.Workloads[0].Counts[i].Classes {
			res.Workloads[0].Counts[i].Classes[k].Text = evil
		}
	}
	for _, f := range []string{"text", "markdown", "csv"} {
		text := render(t, f, res, Options{})
		for _, bad := range []string{"\x1b", "\x00", "\u009b", "\r", "\u202e", "\u200b", "pwned"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s lets %q through", f, bad)
			}
		}
		if f == "markdown" && strings.Contains(strings.ReplaceAll(text, "`", ""), "a b") && strings.Contains(text, "| <script>") {
			t.Error("markdown lets HTML through")
		}
		if f == "text" {
			for _, l := range strings.Split(text, "\n") {
				if utf8.RuneCountInString(l) > defaultWidth {
					t.Errorf("a line of %d", utf8.RuneCountInString(l))
				}
			}
		}
	}
	// In Markdown HTML stands inside code spans only.
	for _, l := range strings.Split(render(t, "markdown", res, Options{}), "\n") {
		if i := strings.Index(l, "<script>"); i >= 0 && !strings.Contains(l[:i], "`` ") {
			t.Errorf("HTML: %.100q", l)
		}
	}
}

func TestCSVIsComplete(t *testing.T) {
	res := result(t, recordtest.Typical())
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", res, Options{}))).ReadAll()
	require.NoError(t, err)
	want := 1 + len(res.Environments)*len(record.LifeCycle) + len(res.Excluded)
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
}

// The audit's CSV has each property of each environment that is known, and each
// difference that no factor brings with it, as JSON has them.
func TestAuditCSVIsComplete(t *testing.T) {
	res := result(t, recordtest.Audited())
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", res, Options{Audit: true}))).ReadAll()
	require.NoError(t, err)
	var back audit.Audit
	require.NoError(t, json.Unmarshal([]byte(render(t, "json", res, Options{Audit: true})), &back))
	id := res.Run.ID
	want := [][]string{{"run", "kind", "environment", "against", "factors", "property", "value", "value_against"}}
	for _, e := range back.Environments {
		for _, p := range back.Properties {
			known := map[string]map[string]string{audit.Isolation: e.Isolation, audit.Configuration: e.Configuration}
			if v := known[p.Kind][p.Key]; v != "" {
				want = append(want, []string{id, p.Kind, e.Env, "", "", p.Key, v, ""})
			}
		}
	}
	for _, p := range back.Pairs {
		for _, d := range p.Beyond {
			want = append(want, []string{id, "difference", p.A, p.B, strings.Join(p.Factors, ";"), d.Key, d.A, d.B})
		}
	}
	for _, row := range want {
		for i := range row {
			row[i] = csvfile.Quote(row[i])
		}
	}
	if len(want) < 200 || !slices.EqualFunc(rows, want, slices.Equal[[]string]) {
		t.Errorf("%d rows, want %d:\n%q\n%q", len(rows), len(want), rows, want)
	}
}

func TestJSONComesBack(t *testing.T) {
	res := result(t, recordtest.Typical())
	text := render(t, "json", res, Options{})
	var back analyze.Result
	require.NoError(t, json.Unmarshal([]byte(text), &back))
	if again := render(t, "json", &back, Options{}); again != text {
		t.Errorf("what was read back differs: %s", golden.Difference(again, text))
	}
	if back.Schema != analyze.Schema {
		t.Errorf("schema %d", back.Schema)
	}
	// The text can be made from the JSON as well.
	if render(t, "text", &back, Options{}) != render(t, "text", res, Options{}) {
		t.Error("the text from the JSON differs")
	}
}

func TestWrongOptions(t *testing.T) {
	res := result(t, recordtest.Typical())
	for _, c := range []struct {
		format string
		opts   Options
		want   string
	}{
		{"pdf", Options{}, "text, markdown, csv, json"},
		{"text", Options{Metric: "latency"}, "there is bootstrap, startup"},
		{"text", Options{Sort: "latency"}, `no metric "latency"`},
	} {
		if err := Write(&bytes.Buffer{}, c.format, res, c.opts); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Where the sizes of the effects differ, each row says its own in a word.
func TestEffects(t *testing.T) {
	s := recordtest.Typical()
	s.Envs = s.Envs[:3]
	s.Envs[0].StartUp = s.Envs[1].StartUp // host is as fast as native
	text := render(t, "text", result(t, s), Options{})
	for _, want := range []string{"effect", "large", "effect: against native"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "for all.") {
		t.Errorf("the effects differ, and yet:\n%s", text)
	}
}
