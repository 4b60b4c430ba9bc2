package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/hosts"
)

// queried runs statements from a file, one after the other, and prints each one's rows.
const queried = `import duckdb, json, sys
con, out = duckdb.connect(), []
for statement in json.load(open(sys.argv[1])):
    out.append([list(row) for row in con.execute(statement).fetchall()])
print(json.dumps(out))
`

// sparked does so in Spark: the first statement is Python's, and makes the view.
const sparked = `import json, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1").config(
    "spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
first, *others = json.load(open(sys.argv[1]))
exec(first)
out = [[]] + [[list(row) for row in spark.sql(statement.rstrip().rstrip(";")).collect()] for statement in others]
spark.stop()
print(json.dumps(out))
`

// TestSiteQueries: the queries of the manual run in DuckDB and Spark as they stand
// there, and their numbers are the report's.
func TestSiteQueries(t *testing.T) {
	if os.Getenv("PLIMSOLL_SITE") == "" {
		t.Skip("for make test-site")
	}
	page, err := os.ReadFile("../../docs/queries.md")
	if err != nil {
		t.Fatal(err)
	}
	statements := func(language string) (list []string) {
		for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
			list = append(list, m[1])
		}
		return list
	}
	sql, python := statements("sql"), statements("python")
	if len(sql) != 4 || len(python) != 1 {
		t.Fatalf("the manual has %d queries and %d lines for Spark, not 4 and 1: compare the others too", len(sql), len(python))
	}
	t.Run("duckdb", func(t *testing.T) { queriesIn(t, queried, sql) })
	t.Run("spark", func(t *testing.T) {
		if _, err := exec.LookPath("java"); err != nil {
			t.Skip("Spark needs Java, which is not installed")
		}
		queriesIn(t, sparked, append(python, sql[1:]...))
	})
}

// queriesIn runs statements by a program in Python.
func queriesIn(t *testing.T, program string, statements []string) {
	t.Helper()
	bin := os.Getenv("PLIMSOLL_PYTHON")
	if bin == "" {
		t.Skip("Python's packages are not installed: make test-site does that, if it can, and names their folder in PLIMSOLL_PYTHON")
	}
	specs := recordtest.Fleet(6, 11)
	for i := range specs {
		specs[i].PerBlock = 2 + i%2 // the median of a block is one of several values, or between two
		specs[i].Host.Name = "rack 1/" + specs[i].Host.Name
	}
	folder, _ := recordtest.WriteAll(t, specs)
	work := t.TempDir()
	for range 2 { // the second time replaces what the first one wrote
		if status, _, errs := drive("export", folder, "--format", "parquet", "--partitioned", "-o", filepath.Join(work, "lake")); status != 0 {
			t.Fatalf("%d %s", status, errs)
		}
	}
	script, list := filepath.Join(work, "run.py"), filepath.Join(work, "queries.json")
	text, err := json.Marshal(statements)
	if err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{script: []byte(program), list: text} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "python3"), script, list) //nolint:gosec // of the test's own environment
	var errs bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = work, &errs, time.Minute
	cmd.Env = append(os.Environ(), "JAVA_TOOL_OPTIONS=-XX:-UsePerfData -Djava.io.tmpdir="+work) // else a folder stays in /tmp
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	var rows [][][]any
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	equalTheReport(t, folder, rows)
}

// equalTheReport compares the rows of the second query on with what the report says.
func equalTheReport(t *testing.T, folder string, rows [][][]any) {
	t.Helper()
	status, out, errs := drive("report", folder, "--format", "json", "--metric", "startup")
	var h hosts.Hosts
	if err := json.Unmarshal([]byte(out), &h); status != 0 || err != nil {
		t.Fatalf("%d %v %s", status, err, errs)
	}
	near := func(a any, b float64) bool {
		v, ok := a.(float64)
		return ok && math.Abs(v/b-1) < 1e-9
	}
	at := map[string]int{}
	trials := map[string]float64{}
	for i, x := range h.Hosts {
		at[x.Label], trials[x.Label] = i, 0
	}
	for _, r := range rows[1] {
		if r[3] != 0.0 {
			t.Errorf("failed on %v: %v", r[0], r[3])
		}
		trials[r[0].(string)] += r[2].(float64)
	}
	for _, x := range h.Hosts {
		if trials[x.Label] != float64(x.Trials) {
			t.Errorf("%s: %v trials, the report has %d", x.Label, trials[x.Label], x.Trials)
		}
	}
	if want := 18; len(rows[1]) != want || len(rows[2]) != want || len(rows[3]) != 12 {
		t.Fatalf("%d, %d and %d rows: %v", len(rows[1]), len(rows[2]), len(rows[3]), rows)
	}
	// The report over hosts takes the median of block medians: that of all values is the
	// one of the run's own report.
	for _, r := range rows[2] {
		if want := ownMedian(t, folder, r[0].(string), r[1].(string)); !near(r[2], want/1e6) {
			t.Errorf("%v on %v: %v ms, the report has %v", r[1], r[0], r[2], want/1e6)
		}
	}
	for _, r := range rows[3] {
		i, env := at[r[0].(string)], r[1].(string)
		for k := range h.Tables[0].Rows {
			if x := h.Tables[0].Rows[k]; x.Env == env && (!near(r[2], x.Hosts[i].Value) || r[3] != float64(x.Hosts[i].Blocks)) {
				t.Errorf("%s on %v: × %v in %v blocks, the report has × %v in %d", env, r[0], r[2], r[3], x.Hosts[i].Value, x.Hosts[i].Blocks)
			}
		}
	}
}

// ownMedian is what the report of a host's own run says.
func ownMedian(t *testing.T, folder, host, env string) float64 {
	t.Helper()
	name := strings.TrimPrefix(host, "rack 1/node")
	res, err := readResult(filepath.Join(folder, "fleet-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return res.Workloads[0].Table("startup").Cell(env).Median.Value
}
