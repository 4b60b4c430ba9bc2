package view_test

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/view/viewtest"
)

// most is how large the data of any run may become, gzipped, in bytes.
const most = 1_500_000

func zipped(tb testing.TB, d *view.Data) int {
	tb.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(encode(tb, d)); err != nil {
		tb.Fatal(err)
	}
	require.NoError(tb, z.Close())
	return out.Len()
}

// The size depends on the bounds and not on the run: one with more cells than
// the bounds allow stays small.
func TestSize(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large records: left out with -short")
	}
	const points = 2_000
	d := build(t, made(t, viewtest.Spec{Envs: 60, Workloads: 17, Blocks: 1}), view.Options{Points: points})
	check(t, d)
	values, dists, cells, curves := 0, 0, 0, 0
	for _, w := range d.Works {
		for _, table := range w.Tables {
			cells += len(table.N)
			for _, x := range table.Dist {
				values += len(x.Values)
				if len(x.Quantiles) > 0 {
					dists++
				}
			}
		}
		for _, c := range w.Curves {
			curves += len(c.T)
		}
	}
	n := zipped(t, d)
	t.Logf("%d values, %d distributions, %d cells, %d points of curves, %d trials, %d remarks: %d bytes gzipped", values, dists, cells, curves, len(d.Trials.Seq), len(d.Remarks), n)
	if values > points || dists > 3_000 || cells > 12_000 || curves > 24_000 || len(d.Trials.Seq) > points+4_000 || len(d.Remarks) > 1_000 || n > most {
		t.Error("a bound does not hold")
	}
	for _, what := range []string{"metrics", "trials", "remarks"} {
		if !strings.Contains(d.Shortened, what) {
			t.Errorf("it is not said that %s were left out: %q", what, d.Shortened)
		}
	}
	if last := &d.Works[16]; table(last, last.Show[0]) == nil {
		t.Error("the last workload has lost its first metric")
	}
}

// Four times as many trials make no more data.
func TestSizeIsNotOfTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large records: left out with -short")
	}
	few := build(t, made(t, viewtest.Spec{Envs: 12, Workloads: 2, Blocks: 6}), view.Options{Points: 500})
	many := build(t, made(t, viewtest.Spec{Envs: 12, Workloads: 2, Blocks: 24}), view.Options{Points: 500})
	if a, b := zipped(t, few), zipped(t, many); float64(b) > 1.15*float64(a) {
		t.Errorf("four times the trials take %d bytes instead of %d", b, a)
	}
}

// Failed trials come first where not all can be listed.
func TestFailedAreListed(t *testing.T) {
	d := build(t, made(t, viewtest.Small), view.Options{Points: 1})
	failed := 0
	for _, c := range d.Trials.Class {
		if c != "" {
			failed++
		}
	}
	if failed != d.Run.Failed || failed == 0 || len(d.Trials.Seq) != failed {
		t.Errorf("%d of %d failed trials, %d in all", failed, d.Run.Failed, len(d.Trials.Seq))
	}
}

// BenchmarkBuild1M reads a run of a million trials in 60 environments, and says
// how large its data are.
func BenchmarkBuild1M(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "run")
	require.NoError(b, viewtest.Million.Write(dir))
	size := 0
	for b.Loop() {
		r, err := record.Open(dir)
		require.NoError(b, err)
		size = zipped(b, build(b, r, view.Options{}))
	}
	b.ReportMetric(float64(size), "gzipped-bytes")
	if size > most {
		b.Errorf("%d bytes", size)
	}
}
