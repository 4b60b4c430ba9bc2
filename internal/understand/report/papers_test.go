package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/document"
)

// The published tables with the run's numbers beside theirs, in every format.
func TestPapers(t *testing.T) {
	res := result(t, recordtest.Paper())
	for _, c := range []struct{ name, format string }{{"papers.txt", "text"}, {"papers.md", "markdown"}} {
		isGolden(t, c.name, render(t, c.format, res, Options{Papers: true}))
	}
	// They stand in the whole report too.
	for _, format := range []string{"text", "markdown"} {
		if got := render(t, format, res, Options{}); !strings.Contains(got, "Compared with Baresi et al. 2024, Table 3") {
			t.Errorf("the %s has no published table", format)
		}
	}
	if !strings.Contains(render(t, "json", res, Options{}), `"papers"`) {
		t.Error("the JSON has no published table")
	}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := Write(&b, format, result(t, recordtest.Typical()), Options{Papers: true}); err == nil {
			t.Errorf("%s: a run of no paper's study has published tables", format)
		}
	}
}

// What a reader takes for published is, to the digit, and nothing measured
// stands in its column.
func TestPapersKeepApart(t *testing.T) {
	res := result(t, recordtest.Paper())
	rows, err := csv.NewReader(strings.NewReader(render(t, "csv", res, Options{Papers: true}))).ReadAll()
	require.NoError(t, err)
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	tried := 0
	for _, r := range rows[1:] {
		if r[at["published_from"]] != "" {
			continue
		}
		ok := false
		for _, v := range published.Find(published.Query{Source: r[at["source"]], Table: r[at["table"]], Image: r[at["image"]]}) {
			ok = ok || v.Name() == r[at["engine"]] && v.Row() == r[at["row"]] && v.Unit == r[at["unit"]] && strconv.FormatFloat(v.Value, 'g', -1, 64) == r[at["published"]]
		}
		if !ok {
			t.Errorf("not published: %v", r)
		}
		tried++
	}
	if tried < 70 {
		t.Errorf("only %d published values were looked at", tried)
	}
	// In text, every number in parentheses after an image is a published one.
	text := render(t, "text", res, Options{Papers: true})
	if !strings.Contains(text, "(871 ± 4)") || !strings.Contains(text, "(744 ± 24)") {
		t.Errorf("the published numbers are not in parentheses:\n%s", text)
	}
	var out struct {
		Schema int
		Papers []struct{ Source string }
	}
	if err := json.Unmarshal([]byte(render(t, "json", res, Options{Papers: true})), &out); err != nil || out.Schema == 0 || len(out.Papers) != 3 {
		t.Errorf("%+v, %v", out, err)
	}
}

// A percentage is made of those values that have a baseline in the paper: the
// others of the row keep their unit, and each says which it has.
func TestPapersOwnUnits(t *testing.T) {
	s := recordtest.Paper()
	docker := record.PaperColumn{Published: "docker/linux 4 threads", Levels: map[string][]string{"engine": {"docker"}}}
	s.Tables = []record.PaperTable{{Source: "silva2024", Table: "Figure 6", Engines: []record.PaperColumn{docker}, Baseline: "native/linux 4 threads",
		Without: map[string]string{"native/windows 4 threads": "Windows is not measured.", "docker/windows 4 threads": "Windows is not measured."},
		Rows:    []record.PaperRow{{Published: "geekbench6/avg/single-core-score", Workload: "redis", Metric: "get", As: record.PaperOverhead, Note: "not the same"}}}}
	for format, want := range map[string][]string{
		"text": {"geekbench6/avg/single-core-score (a)\n", "(1164 points)", "(5.04 %)", "\na not the same.\n"}, "markdown": {"*1164 points*", "*5.04 %*"},
	} {
		got := render(t, format, result(t, s), Options{Papers: true})
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", format, w, got)
			}
		}
		for _, line := range strings.Split(got, "\n") {
			if strings.Contains(line, "docker/linux 4 threads") && !strings.Contains(line, "n/a") && strings.Count(line, "%") != 3 {
				t.Errorf("%s: published and measured have not both their unit: %s", format, line)
			}
		}
	}
}

// Cells that no part of the study has are in no table.
func TestPartsLeaveOut(t *testing.T) {
	res := result(t, recordtest.Paper())
	for _, format := range []string{"text", "markdown", "csv"} {
		got := render(t, format, res, Options{})
		if strings.Contains(got, "does not ask for it\n") && format == "csv" {
			t.Errorf("the csv has cells that nobody asked for:\n%s", got)
		}
	}
	for _, r := range rankingsOf(res, Options{}) {
		for _, e := range r.order {
			if r.work.ID == "hello" && (e == "docker" || e == "podman" || e == "docker/seccomp-off") {
				t.Errorf("%s stands in the ranking of %s", e, r.work.ID)
			}
		}
	}
}

// The overview of a study with parts has only what more than one workload says
// something of.
func TestPartsOverview(t *testing.T) {
	g := &document.Table{Columns: document.Columns("workload", "metric", "native", "a", "b", "c")}
	for _, cells := range [][]string{{"w1", "m", "1 ms", "2", "", "3"}, {"w2", "m", "1 ms", "", "1", "2 ~"}, {"w3", "m", "1 ms", "n/a", "", "n/a"}} {
		g.Row(cells...)
	}
	if !compact(g) || len(g.Columns) != 4 || g.Columns[3].Title != "c" || len(g.Rows) != 2 || g.Rows[1].Cells[3].Text != "2 ~" {
		t.Errorf("%+v", g)
	}
	if g.Rows[0].Cells[3].Text = "n/a"; compact(g) {
		t.Error("an overview of one number")
	}
}
