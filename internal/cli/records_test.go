package cli

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// TestRealRecords holds the format of records and what is computed from them: records of
// runs on real engines, small ones on a busy machine with 2 processors, read and written
// again give the same bytes, and their numbers and verdicts stay what they are. The hosts
// are one machine under three names.
func TestRealRecords(t *testing.T) {
	for name, args := range map[string][]string{"quick": nil, "everarts2020": nil, "density": nil, "load": nil, "hosts": {"--host-by", "name"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpacked(t, filepath.Join("testdata", "records", name+".tar.gz"))
			runs, _, err := record.Find([]string{dir})
			require.NoError(t, err)
			for _, run := range runs {
				writtenAgain(t, run)
			}
			status, out, errs := drive(append([]string{"report", dir, "--format", "json"}, args...)...)
			if status != 0 {
				t.Fatalf("status %d: %s", status, errs)
			}
			golden.Check(t, filepath.Join("testdata", "records", name+".txt"), numbersIn(t, out))
		})
	}
}

// unpacked unpacks an archive of a record, or of a folder of them.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	f, err := os.Open(archive)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	dir := t.TempDir()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(path, 0o755))
			continue
		}
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
}

// writtenAgain reads a record into the types of its format, writes another one from them,
// and compares the files.
func writtenAgain(t *testing.T, dir string) {
	t.Helper()
	r, err := record.Open(dir)
	require.NoError(t, err)
	again := filepath.Join(t.TempDir(), "again")
	w, err := record.Create(again, r.Run())
	require.NoError(t, err)
	defer w.Close()
	insides, err := r.Insides()
	require.NoError(t, err)
	for _, in := range insides {
		_, err := w.AddInside(in)
		require.NoError(t, err)
	}
	trials := 0
	for trial, err := range r.Trials() {
		require.NoError(t, err)
		require.NoError(t, w.Append(trial))
		trials++
		for _, name := range trial.Samples {
			in, err := r.Samples(name)
			require.NoError(t, err)
			_, collector, _ := strings.Cut(strings.TrimSuffix(name, ".jsonl"), ".")
			out, err := w.CreateSamples(trial.Seq, collector)
			require.NoError(t, err)
			switch collector {
			case "density":
				linesAgain[record.DensityStep](t, in, out)
			case "load":
				linesAgain[record.LoadStep](t, in, out)
			default:
				s, err := record.ReadSeries(in, name)
				require.NoError(t, err)
				require.NoError(t, record.WriteSeries(out, s))
			}
			require.NoError(t, errors.Join(in.Close(), out.Close()))
		}
	}
	if trials == 0 {
		t.Errorf("%s has no trials", dir)
	}
	require.NoError(t, w.Update(r.Run()))
	files, err := filepath.Glob(filepath.Join(dir, record.SamplesDir, "*"))
	require.NoError(t, err)
	for _, path := range append(files, filepath.Join(dir, record.RunFile), filepath.Join(dir, record.TrialsFile), filepath.Join(dir, record.InsideFile)) {
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		is, err := os.ReadFile(filepath.Join(again, name))
		require.NoError(t, err)
		if !bytes.Equal(was, is) {
			t.Errorf("%s, read and written again, differs %s", name, golden.Difference(string(is), string(was)))
		}
	}
}

func linesAgain[T any](t *testing.T, in io.Reader, out io.Writer) {
	t.Helper()
	var all []T
	for v, err := range record.ReadLines[T](in, "series") {
		require.NoError(t, err)
		all = append(all, v)
	}
	require.NoError(t, record.WriteLines(out, all))
}

// numbersIn lists what of a JSON document is computed: its numbers, to three digits so that
// they are the same on every processor, its truths, and its words, which are ids and
// verdicts. Sentences are left out, and so are published numbers that have no number of the
// run beside them. A line is an object, behind its path.
func numbersIn(t *testing.T, doc string) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal([]byte(doc), &v))
	var b strings.Builder
	addNumbers(&b, "", v)
	return b.String()
}

// notComputed are the keys of what stands in the record, or where that lies: no result.
var notComputed = []string{"block_medians", "configuration", "dir", "facts", "host", "isolation", "machine", "tool"}

func addNumbers(b *strings.Builder, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if (v["published"] != nil || v["theirs"] != nil) && v["here"] == nil && v["ours"] == nil {
			return
		}
		for _, k := range []string{"id", "env", "metric", "name"} {
			if name := computed(v[k]); name != "" {
				path += "(" + name + ")"
				break
			}
		}
		line := ""
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if leaf := computed(v[k]); leaf != "" && !slices.Contains(notComputed, k) {
				line += " " + k + "=" + leaf
			}
		}
		if line != "" {
			b.WriteString(cmp.Or(path, ".") + line + "\n")
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(notComputed, k) && computed(v[k]) == "" {
				addNumbers(b, path+"."+k, v[k])
			}
		}
	case []any:
		for _, x := range v {
			addNumbers(b, path, x)
		}
	}
}

// computed is how a value stands in a line; "" where it has none.
func computed(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(rounded(v), 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case string:
		if v != "" && !strings.Contains(v, " ") {
			return v
		}
	case map[string]any:
		value, ok := v["value"].(float64)
		if _, interval := v["lo"]; ok && (interval && len(v) == 3 || len(v) == 1) {
			text := computed(value)
			if interval {
				text += "[" + computed(v["lo"]) + "," + computed(v["hi"]) + "]"
			}
			return text
		}
		if id, ok := v["id"].(string); ok && v["better"] != nil {
			return id // a metric
		}
	case []any:
		var all []string
		for _, x := range v {
			if _, object := x.(map[string]any); object || computed(x) == "" {
				return ""
			}
			all = append(all, computed(x))
		}
		return strings.Join(all, ",")
	}
	return ""
}

func rounded(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) {
		return v
	}
	by := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*by) / by
}
