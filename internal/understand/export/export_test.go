package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// small is a run that has everything: warm-up, failures, a time-out, factors,
// parameters, a clock of its own, and a workload with metrics of its own.
func small(t *testing.T) *record.Reader {
	s := recordtest.Typical()
	s.Blocks, s.PerBlock = 2, 1
	s.Envs = []recordtest.Env{s.Envs[1], s.Envs[6], s.Envs[8], s.Envs[11]}
	s.Envs[2].FailEvery, s.Envs[2].Class = 3, record.TimeOut
	s.Workloads = append(s.Workloads, record.Workload{ID: "disk/4k", Name: "disk", Params: map[string]string{"size": "4k, \"odd\""},
		Metrics: []record.Metric{{ID: "throughput", Unit: "bytes/s", Better: record.HigherIsBetter, Title: "throughput", What: "bytes written a second"}}})
	for i := range s.Envs {
		s.Envs[i].Values = map[string]float64{"throughput": 1e8 / 3}
	}
	return s.Open(t)
}

func written(t *testing.T, r *record.Reader, format string, opts Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, opts); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		if Binary(format) {
			continue
		}
		t.Run(format, func(t *testing.T) {
			got := written(t, small(t), format, Options{})
			golden.Check(t, filepath.Join("testdata", "small."+format), string(got))
		})
	}
}

func readCSV(t *testing.T, data []byte) (head []string, rows [][]string) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%d lines: %v", len(all), err)
	}
	return all[0], all[1:]
}

// Every value of every trial is there once, and a failed trial is one row
// without a value.
func TestNothingIsLost(t *testing.T) {
	r := small(t)
	type key struct {
		seq    int
		metric string
	}
	want := map[key]float64{}
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		if !tr.OK() {
			want[key{tr.Seq, ""}] = math.NaN()
			continue
		}
		for _, m := range record.LifeCycle {
			if v, ok := m.Derive(tr); ok {
				want[key{tr.Seq, m.ID}] = float64(v)
			}
		}
		if v, ok := tr.Values["throughput"]; ok && tr.Workload != "hello" {
			want[key{tr.Seq, "throughput"}] = v
		}
	}
	head, rows := readCSV(t, written(t, r, "csv", Options{}))
	if len(rows) != len(want) || len(rows) < 100 {
		t.Errorf("%d rows, want %d", len(rows), len(want))
	}
	at := map[string]int{}
	for i, h := range head {
		at[h] = i
	}
	censored := 0
	for _, row := range rows {
		seq, _ := strconv.Atoi(row[at["seq"]])
		k := key{seq, row[at["metric"]]}
		w, ok := want[k]
		if !ok {
			t.Fatalf("%v was never measured", k)
		}
		if math.IsNaN(w) {
			if row[at["value"]] != "" || row[at["failure"]] == "" {
				t.Errorf("a failed trial has the value %q and the failure %q", row[at["value"]], row[at["failure"]])
			}
			if row[at["censored"]] == "true" {
				censored++
				if row[at["limit_ns"]] != "10000000000" || row[at["failure"]] != string(record.TimeOut) {
					t.Errorf("censored: %q", row)
				}
			}
		} else if v, err := strconv.ParseFloat(row[at["value"]], 64); err != nil || v != w {
			t.Errorf("%v is %q, want %g", k, row[at["value"]], w)
		}
		delete(want, k)
	}
	if censored == 0 {
		t.Error("no censored row")
	}
	if row := rows[0]; len(row) != len(head) || at["factor_runtime"] == 0 || at["param_size"] == 0 {
		t.Errorf("columns %q", head)
	}
}

// CSV, JSON and Parquet hold the same table.
func TestTablesAgree(t *testing.T) {
	r := small(t)
	head, want := readCSV(t, written(t, r, "csv", Options{}))
	var objects []map[string]any
	dec := json.NewDecoder(bytes.NewReader(written(t, r, "json", Options{})))
	dec.UseNumber()
	if err := dec.Decode(&objects); err != nil || len(objects) != len(want) {
		t.Fatalf("%d objects: %v", len(objects), err)
	}
	data := written(t, r, "parquet", Options{})
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil || file.NumRows() != int64(len(want)) {
		t.Fatalf("%v", err)
	}
	var names []string
	for _, c := range file.Schema().Columns() {
		names = append(names, c[0])
	}
	reader := parquet.NewReader(file)
	defer reader.Close()
	for i := range want {
		line := map[string]string{}
		for c, h := range head {
			line[h] = want[i][c]
		}
		fromJSON := map[string]string{}
		for k, v := range objects[i] {
			switch v := v.(type) {
			case nil:
				fromJSON[k] = ""
			case bool:
				fromJSON[k] = strconv.FormatBool(v)
			case json.Number:
				fromJSON[k] = v.String()
			case string:
				fromJSON[k] = v
			}
		}
		if !reflect.DeepEqual(line, fromJSON) {
			t.Fatalf("row %d: CSV %v\nJSON %v", i, line, fromJSON)
		}
		rows := make([]parquet.Row, 1)
		if n, err := reader.ReadRows(rows); n != 1 || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("row %d: %v", i, err)
		}
		fromParquet := map[string]string{}
		for _, v := range rows[0] {
			s := ""
			switch {
			case v.IsNull():
			case v.Kind() == parquet.Double:
				s = strconv.FormatFloat(v.Double(), 'g', -1, 64)
			case v.Kind() == parquet.Int64:
				s = strconv.FormatInt(v.Int64(), 10)
			case v.Kind() == parquet.Boolean:
				s = strconv.FormatBool(v.Boolean())
			default:
				s = string(v.ByteArray())
			}
			fromParquet[names[v.Column()]] = s
		}
		if !reflect.DeepEqual(line, fromParquet) {
			t.Fatalf("row %d: CSV %v\nParquet %v", i, line, fromParquet)
		}
	}
}

func TestMetric(t *testing.T) {
	r := small(t)
	head, rows := readCSV(t, written(t, r, "csv", Options{Metric: "throughput"}))
	values := 0
	for _, row := range rows {
		for i, h := range head {
			if h == "metric" && row[i] != "" {
				values++
				if row[i] != "throughput" {
					t.Errorf("metric %q", row[i])
				}
			}
		}
	}
	if values == 0 {
		t.Error("no value")
	}
	err := Write(io.Discard, "csv", r, Options{Metric: "trhoughput"})
	if err == nil || !strings.Contains(err.Error(), "startup") {
		t.Errorf("an unknown metric: %v", err)
	}
	if err := Write(io.Discard, "xml", r, Options{}); err == nil || !strings.Contains(err.Error(), "openmetrics") {
		t.Errorf("an unknown format: %v", err)
	}
}

// An empty run is an empty table, not a broken one.
func TestEmpty(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks, s.Warmup = 0, 0
	r := s.Open(t)
	for _, format := range Formats() {
		data := written(t, r, format, Options{})
		var any []any
		if format == "json" && (json.Unmarshal(data, &any) != nil || len(any) != 0) {
			t.Errorf("%s", data)
		}
		if format == "hyperfine" && !bytes.Contains(data, []byte(`"results": []`)) {
			t.Errorf("%s", data)
		}
	}
}
