package importer

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

func file(t *testing.T, name string) File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return File{Path: name, Data: data, Modified: time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)}
}

// result imports, writes, reads and analyses, as a user does.
func result(t *testing.T, files ...File) *analyze.Result {
	t.Helper()
	run, trials, err := Import(files)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, Write(dir, run, trials))
	r, err := record.Open(dir)
	require.NoError(t, err)
	res, err := evaluate.Run(r, evaluate.Options{})
	require.NoError(t, err)
	return res
}

// A file as hyperfine 1.15 wrote it: its own medians are what we find.
func TestHyperfine(t *testing.T) {
	res := result(t, file(t, "hyperfine.json"))
	if len(res.Workloads) != 1 || len(res.Environments) != 4 {
		t.Fatalf("%d workloads, %d environments", len(res.Workloads), len(res.Environments))
	}
	w := &res.Workloads[0]
	time := w.Table("time")
	for env, want := range map[string]float64{"seq 1": 0.000919705} {
		c := time.Cell(env)
		if c == nil || c.Median == nil || c.N != 8 || math.Abs(c.Median.Value-want*1e9) > 1 {
			t.Errorf("%s: %+v", env, c)
		}
	}
	if e := res.Environments[0]; e.Levels["count"] != "1" || e.Engine != "imported" {
		t.Errorf("%+v", e)
	}
	for _, n := range w.Counts {
		failed := strings.HasPrefix(n.Env, "sh -c")
		if n.Trials != 8 || (n.Failed == 8) != failed {
			t.Errorf("%+v", n)
		}
	}
	codes := map[string]bool{}
	for _, m := range res.Remarks {
		codes[m.Code] = true
	}
	for _, c := range []string{"not-interleaved", "host-unknown", "order", "failures"} {
		if !codes[c] {
			t.Errorf("no remark %s in %v", c, codes)
		}
	}
	if res.Run.Repeat != "" || res.Run.Protocol.Order != "sequential" || res.Run.Imported.Format != Hyperfine {
		t.Errorf("%+v", res.Run)
	}
}

// Two files of go test -bench are two environments with the same workloads.
func TestBenchfmt(t *testing.T) {
	res := result(t, file(t, "go-old.txt"), file(t, "go-new.txt"))
	if len(res.Environments) != 2 || res.Environments[1].ID != "go-new" || len(res.Workloads) != 2 {
		t.Fatalf("%+v", res.Environments)
	}
	w := res.Workload("Encode/size=4k-8")
	if w == nil || w.Params["size"] != "4k" {
		t.Fatalf("%+v", res.Workloads)
	}
	for metric, want := range map[string]float64{"time": 3120, "throughput": 994.17e6, "allocated": 512, "allocs": 3} {
		c := w.Table(metric).Cell("go-new")
		if c.N != 3 || math.Abs(c.Median.Value-want) > 1e-6*want {
			t.Errorf("%s: %+v", metric, c)
		}
	}
	if m := w.Table("throughput").Metric; m.Better != record.HigherIsBetter || m.Unit != "bytes/s" {
		t.Errorf("%+v", m)
	}
	if m := res.Workload("Decode-8").Table("hit").Metric; m.Unit != "ratio" {
		t.Errorf("%+v", m)
	}
	if h := res.Run.Host; h.OS != "linux" || h.CPU != "Imaginary 3000" || h.Kernel != "" {
		t.Errorf("%+v", h)
	}
}

// A third tool names its directions itself.
func TestUnitsSayWhatIsBetter(t *testing.T) {
	res := result(t, File{Path: "x.txt", Data: []byte("Unit score-points better=higher\nBenchmarkX 1 7 score-points\n")})
	if m := res.Workloads[0].Table("score").Metric; m.Better != record.HigherIsBetter || m.Unit != "points" {
		t.Errorf("%+v", m)
	}
}

func TestByteOrderMark(t *testing.T) {
	for _, data := range []string{`{"results":[{"command":"a","times":[1]}]}`, "BenchmarkX 1 2 ns/op\n"} {
		if _, trials, err := Import([]File{{Path: "x", Data: []byte("\xef\xbb\xbf" + data)}}); err != nil || len(trials) != 1 {
			t.Errorf("%d trials: %v", len(trials), err)
		}
	}
}

func TestRefused(t *testing.T) {
	old := File{Path: "go.txt", Data: []byte("BenchmarkX 1 2 ns/op\n")}
	for _, c := range []struct {
		name, data, want string
	}{
		{"empty", "", "no results"},
		{"prose", "Dear reader,\n\nthis is no benchmark.\n", "no results"},
		{"json that is none", `{"results": [`, "not hyperfine's JSON"},
		{"another json", `{"benchmarks": []}`, "no results"},
		{"means alone", `{"results":[{"command":"a","mean":1}]}`, "no times"},
		{"negative", `{"results":[{"command":"a","times":[-1]}]}`, "cannot be"},
		{"codes of another length", `{"results":[{"command":"a","times":[1,2],"exit_codes":[0]}]}`, "2 times and 1 exit codes"},
		{"the same command twice", `{"results":[{"command":"a","times":[1]},{"command":"a","times":[1]}]}`, "second of its name"},
		{"no number", "BenchmarkX 1 many ns/op\n", "line 1"},
		{"not a number", "BenchmarkX 1 NaN ns/op\n", "cannot be analysed"},
		{"two units", "BenchmarkX 1 2 a-b\nBenchmarkX 1 2 a-c\n", "two units"},
	} {
		_, _, err := Import([]File{{Path: "file", Data: []byte(c.data)}})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "importing file") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, _, err := Import([]File{old, {Path: "h.json", Data: []byte(`{"results":[{"command":"a","times":[1]}]}`)}}); err == nil || !strings.Contains(err.Error(), "separately") {
		t.Errorf("two formats: %v", err)
	}
	if _, _, err := Import(nil); err == nil {
		t.Error("no file was imported")
	}
}
