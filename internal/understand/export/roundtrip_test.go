package export_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/export"
	"plimsoll/internal/understand/importer"
)

func exported(t *testing.T, r *record.Reader, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, export.Write(&b, format, r, export.Options{}))
	return b.Bytes()
}

func imported(t *testing.T, name string, data []byte) *record.Reader {
	t.Helper()
	run, trials, err := importer.Import([]importer.File{{Path: name, Data: data}})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, importer.Write(dir, run, trials))
	r, err := record.Open(dir)
	require.NoError(t, err)
	return r
}

// What was exported and imported again has the same environments, factors,
// medians and intervals, and is exported the same a second time. It has one
// trial a block: which trials were of one block is lost, and intervals know it.
func TestThereAndBack(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks, s.PerBlock, s.Excluded = 20, 1, nil
	s.Envs[3].ID = "charliecloud/directory" // a name that the format has to write otherwise
	first := s.Open(t)
	want := analysed(t, first)
	for _, format := range []string{"benchfmt", "hyperfine"} {
		data := exported(t, first, format)
		second := imported(t, "x", data)
		got := analysed(t, second)
		metrics := []string{"startup"}
		if format == "benchfmt" {
			metrics = []string{"startup", "bootstrap", "create", "whole", "removal"}
		}
		for _, m := range metrics {
			a, b := want.Workloads[0].Table(m), got.Workloads[0].Table(m)
			if b == nil {
				t.Fatalf("%s lost %s", format, m)
			}
			n := 0
			for i := range a.Cells {
				c := &a.Cells[i]
				if c.Median == nil {
					continue
				}
				d := b.Cell(c.Env)
				if d == nil || d.Median == nil || d.N != c.N || !near(d.Median.Value, c.Median.Value) || !near(*d.Median.Lo, *c.Median.Lo) || !near(*d.Median.Hi, *c.Median.Hi) {
					t.Errorf("%s, %s of %s: %+v, not %+v", format, m, c.Env, d, c)
				}
				n++
			}
			if n < 3 {
				t.Errorf("%s: %d cells", m, n)
			}
		}
		for _, e := range got.Environments {
			if e.ID == "crun" && (e.Engine != "oci" || e.Levels["runtime"] != "crun") {
				t.Errorf("%s: %+v", format, e)
			}
		}
		again := exported(t, second, format)
		if format == "benchfmt" {
			if a, b := resultLines(data), resultLines(again); a != b {
				t.Errorf("the second export differs:\n%.300s\n%.300s", a, b)
			}
			continue
		}
		a, b := times(t, data), times(t, again)
		if len(a) != len(b) || len(a) < 150 {
			t.Fatalf("%d times, then %d", len(a), len(b))
		}
		for i := range a {
			if !near(a[i], b[i]) {
				t.Errorf("%g became %g", a[i], b[i])
			}
		}
	}
}

// near allows what the way from nanoseconds to seconds and back rounds.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-15*4*math.Abs(b) }

func analysed(t *testing.T, r *record.Reader) *analyze.Result {
	t.Helper()
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	return res
}

// resultLines leaves out what stands before the results.
func resultLines(data []byte) string {
	var out bytes.Buffer
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		if bytes.HasPrefix(l, []byte("Benchmark")) {
			out.Write(l)
		}
	}
	return out.String()
}

func times(t *testing.T, data []byte) (all []float64) {
	t.Helper()
	var f struct{ Results []struct{ Times []float64 } }
	require.NoError(t, json.Unmarshal(data, &f))
	for _, r := range f.Results {
		all = append(all, r.Times...)
	}
	return all
}
