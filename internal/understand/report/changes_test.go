package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/gate"
)

// before and after are two runs: the second is of a machine that is 4 % slower
// that day, with another kernel. runc became 15 % slower, podman has gone, and
// docker-api fails every other time.
func before() recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = append([]recordtest.Env{}, s.Envs[1], s.Envs[2], s.Envs[4], s.Envs[5], s.Envs[7], s.Envs[9])
	s.Blocks, s.PerBlock, s.StealEvery = 20, 1, 0
	return s
}

func after() recordtest.Spec {
	s := before()
	s.Seed, s.Envs = 43, s.Envs[:5]
	for i := range s.Envs {
		s.Envs[i].StartUp = time.Duration(float64(s.Envs[i].StartUp) * 1.04)
	}
	s.Envs[3].StartUp = time.Duration(float64(s.Envs[3].StartUp) * 1.15)
	s.Envs[4].FailEvery, s.Envs[4].Class = 2, record.Crash
	return s
}

func changes(t testing.TB, o compare.Options) *compare.Changes {
	t.Helper()
	a, b := fresh(t, before()), fresh(t, after())
	b.Run.Host.Kernel, b.Run.ID = "6.12.0", "4e5f6a7b"
	b.Audit.Environments[3].Configuration["version"] = "1.3.0"
	c, err := compare.Between(a, b, o)
	require.NoError(t, err)
	return c
}

// tails are two runs of which the second has a longer tail in crun.
func tails(t testing.TB) *compare.Changes {
	t.Helper()
	var results [2]*analyze.Result
	for k, spec := range []recordtest.Spec{before(), before()} {
		spec.Seed, spec.ID, spec.Blocks, spec.PerBlock = uint64(50+k), []string{"5c01", "5c02"}[k], 40, 5
		spec.Envs = append([]recordtest.Env{}, spec.Envs[:4]...)
		if k == 1 {
			spec.Envs[2].Sigma = 0.12
			spec.Envs[3].FailEvery, spec.Envs[3].Class = 2, record.Crash
		}
		var err error
		if results[k], err = evaluate.Run(spec.Open(t), evaluate.Options{Values: true}); err != nil {
			t.Fatal(err)
		}
	}
	c, err := compare.Between(results[0], results[1], compare.Options{Quantile: 0.95, Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
	require.NoError(t, err)
	return c
}

func TestChangesGolden(t *testing.T) {
	c := changes(t, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup", "whole"}}}})
	require.NoError(t, gate.Judge(c, gate.Thresholds{FailAbove: 0.05}))
	grouped := changes(t, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup", "create"}}},
		Row: []string{"engine"}, Col: []string{"metric"}})
	for name, k := range map[string]struct {
		format string
		c      *compare.Changes
		opts   Options
	}{
		"changes.txt": {"text", c, Options{Width: 110}}, "changes-narrow.txt": {"text", c, Options{Width: 60, ASCII: true}}, "changes.md": {"markdown", c, Options{}},
		"changes.json": {"json", c, Options{}}, "changes.xml": {"junit", c, Options{}}, "changes.github": {"github", c, Options{}},
		"quantile.txt": {"text", tails(t), Options{Width: 110}}, "quantile.md": {"markdown", tails(t), Options{}},
		"grouped.txt": {"text", grouped, Options{Width: 110}}, "ungated.xml": {"junit", grouped, Options{}}, "ungated.github": {"github", grouped, Options{}},
	} {
		var b bytes.Buffer
		require.NoError(t, Changes.Write(&b, k.format, k.c, k.opts))
		if k.format != "json" { // its fields stand in testdata/json
			isGolden(t, name, b.String())
		}
		switch k.format {
		case "json":
			var back compare.Changes
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Cells) != len(c.Cells) {
				t.Errorf("%s: %v", name, err)
			}
		case "junit":
			var back junitSuites
			if err := xml.Unmarshal(b.Bytes(), &back); err != nil || back.Suites[0].Tests != len(back.Suites[0].Cases) {
				t.Errorf("%s: %v", name, err)
			}
		case "github":
			for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
				if !strings.HasPrefix(l, "::") {
					t.Errorf("%s: %s", name, l)
				}
			}
		}
	}
}

// Names come from files: none can begin a workflow command or an element.
func TestChangesHostileNames(t *testing.T) {
	c := changes(t, compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
	for i := range c.Cells {
		c.Cells[i].Env, c.Cells[i].Missing, c.Cells[i].Lost = "x\n::error::<a>&%0A\x1b[31m", "why\r\n::set-env::\x00", true
	}
	for _, f := range Changes.Formats() {
		var b bytes.Buffer
		require.NoError(t, Changes.Write(&b, f, c, Options{}))
		if s := b.String(); f != "json" && (strings.Contains(s, "\n::error::<") || strings.Contains(s, "\n::set-env") || strings.ContainsAny(s, "\x1b\x00\r")) {
			t.Errorf("%s:\n%q", f, s)
		}
		if f == "junit" && xml.Unmarshal(b.Bytes(), &junitSuites{}) != nil {
			t.Errorf("no XML:\n%s", b.String())
		}
	}
	if err := Changes.Write(&bytes.Buffer{}, "pdf", c, Options{}); err == nil {
		t.Error("a format that there is not")
	}
}

// A command of the user's own is shown by its words in every format for people, and
// by its id in those for programs.
func TestChangesOfACommand(t *testing.T) {
	a, b := fresh(t, before()), fresh(t, after())
	id := a.Workloads[0].ID
	a.Run.Command, b.Run.Command = "sort -R 'my file'", "sort -R 'my file'"
	c, err := compare.Between(a, b, compare.Options{})
	require.NoError(t, err)
	require.NoError(t, gate.Judge(c, gate.Thresholds{FailAbove: 0.05}))
	for format, people := range map[string]bool{"text": true, "markdown": true, "github": true, "json": false, "junit": false} {
		var out strings.Builder
		require.NoError(t, Changes.Write(&out, format, c, Options{}))
		has := func(s string) bool { return strings.Contains(out.String(), s) }
		if people && (!has("sort -R 'my file'") || has(" of "+id+" in ") || has(id+": ")) || !people && !has(id) {
			t.Errorf("%s:\n%s", format, out.String())
		}
	}
}

// What a cell came to fits beside its row, which names the environment; other places name
// it themselves. A remark is said to its end, however many environments it names.
func TestChangesSayAll(t *testing.T) {
	lost := &compare.Change{Env: "docker/runc/cli/without-masked-paths", Lost: true, Missing: compare.NoEnvironment("docker/runc/cli/without-masked-paths"), Metric: record.Metric{Unit: "ns"}}
	row := changeTable([]*compare.Change{lost}, false).Rows[0].Cells
	if got := row[len(row)-1].Text; got != "lost: not in NEW" {
		t.Errorf("the table says %q", got)
	}
	if got := verdictText(lost); got != "lost: NEW has no environment docker/runc/cli/without-masked-paths" {
		t.Errorf("by itself it is %q", got)
	}
	text := strings.Repeat("the environment of a long name; ", 30) + "the end"
	if got := remarkText(record.Remark{Code: "long", Text: text}); got != "long. "+text+"." {
		t.Errorf("the remark ends %q", got[len(got)-20:])
	}
}
