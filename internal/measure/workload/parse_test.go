package workload

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// What is not whole, not right or not one is refused, not guessed.
func TestParsersRefuse(t *testing.T) {
	fio := string(output(t, "fio-seq-read"))
	loops := string(output(t, "fio-loops"))
	stress := string(output(t, "stress-ng-suite"))
	head, _, _ := strings.Cut(stress, "(secs)")
	for _, c := range []struct{ parser, what, out, want string }{
		{"dd", "nothing", "", "no line"},
		{"dd", "another dd's line", "268435456 bytes (256.0MB) copied, 0.242424 seconds, 1.0GB/s\n", "no line"},
		{"dd", "two of them", "1 bytes copied, 1 s, 1 B/s\n1 bytes copied, 1 s, 1 B/s\n", "more than one"},
		{"dd", "no time", "1 bytes copied, 0 s, Infinity B/s\n", "no time"},
		{"dd", "an endless time", "1 bytes copied, 1e999 s, 0 B/s\n", "number"},
		{"fio", "nothing", "", "no JSON"},
		{"fio", "half of it", fio[:len(fio)/2], "reading fio's JSON"},
		{"fio", "an error of the job", strings.Replace(fio, `"error" : 0`, `"error" : 5`, 1), "had an error"},
		{"fio", "no counts", strings.Replace(fio, `"total_ios"`, `"total"`, 1), "no read with its counts"},
		{"fio", "a negative rate", strings.Replace(fio, `"iops" : `, `"iops" : -`, 1), "read.iops is -"},
		{"fio", "an error of one job of five", strings.Replace(loops, `"error" : 0`, `"error" : 5`, 1), "had an error (1 of 5)"},
		{"fio", "no jobs", `{"jobs" : []}`, "0 jobs"},
		{"fio", "an endless document", strings.Repeat("{", maxParsed+1), "longer"},
		{"stress-ng", "nothing", "", "no table"},
		{"stress-ng", "its head alone", head, "no table"},
		{"stress-ng", "a rate of zero", changed(t, stress, "cpu", "0.00"), "did 0 operations"},
		{"stress-ng", "a rate that is no number", changed(t, stress, "cpu", "nan"), "not a number"},
		{"stress-ng", "an endless one", changed(t, stress, "cpu", "inf"), "not a number"},
		{"stress-ng", "the same twice", changed(t, stress, "bsearch", "") + changed(t, stress, "bsearch", ""), "twice"},
	} {
		v, err := parse(c.parser, []byte(c.out))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %s: %v (%v), want %q", c.parser, c.what, err, v, c.want)
		}
	}
	// Remarks before the document are none of it.
	v, err := parseFio([]byte("note: both iodepth >= 1 and a synchronous engine\n" + fio))
	if err != nil || v["read.iops"] <= 0 {
		t.Errorf("after a remark: %v %v", v, err)
	}
	if _, found := v["write.iops"]; found {
		t.Error("nothing was written, and yet there is a rate of it")
	}
}

// Of several jobs the fastest counts with all that it says, wherever it stands.
func TestFioCountsTheFastest(t *testing.T) {
	job := func(rate int) string {
		return fmt.Sprintf(`{"error": 0, "read": {"total_ios": 0, "bw_bytes": 0, "iops": 0, "clat_ns": {}},
			"write": {"total_ios": 9, "bw_bytes": %d, "iops": %d, "clat_ns": {"mean": %d, "percentile": {"99.000000": %d}}}}`, rate, rate/10, 1000-rate, 2000-rate)
	}
	for _, rates := range [][]int{{700, 300, 500}, {300, 700, 500}, {500, 300, 700}} {
		jobs := make([]string, len(rates))
		for i, r := range rates {
			jobs[i] = job(r)
		}
		got, err := parseFio([]byte(`{"jobs": [` + strings.Join(jobs, ",") + `]}`))
		want := map[string]float64{"write.bytes-per-second": 700, "write.iops": 70, "write.latency-mean": 300, "write.latency-p99": 1300}
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%v: %v, %v, want %v", rates, got, err, want)
		}
	}
}

// changed gives stress-ng's table with another rate for one stressor.
func changed(t *testing.T, out, stressor, rate string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 10 && f[1] == "metrc:" && f[3] == stressor {
			if rate == "" {
				return out
			}
			return strings.Replace(out, line, strings.Join(append(f[:8], rate, f[9]), " ")+"\n", 1)
		}
	}
	t.Fatalf("there is no %s in the table", stressor)
	return ""
}

func output(t testing.TB, name string) []byte {
	t.Helper()
	out, err := os.ReadFile(filepath.Join("testdata", "output", name+".txt"))
	require.NoError(t, err)
	return out
}

// FuzzParsers gives hostile output to every named parser: it answers with
// numbers that a count or rate can be, or with an error.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{"fio-seq-read", "fio-rnd-write", "stress-ng-suite"} {
		out := output(f, name)
		f.Add(out)
		f.Add(out[:len(out)/3])
	}
	for _, out := range []string{osuFull, imbAllreduce, mpiBench, iorText, mdtestText} {
		f.Add([]byte(out))
	}
	f.Add([]byte(`{"jobs":[{"error":0,"read":{"total_ios":1,"bw_bytes":1e308,"iops":1,"clat_ns":{}},"write":{}}]}`))
	f.Fuzz(func(t *testing.T, out []byte) {
		for name, parse := range parsers {
			values, err := parse(out)
			if err == nil && len(values) == 0 && name == "stress-ng" {
				t.Errorf("%s found nothing and says so nowhere", name)
			}
			for k, v := range values {
				if !(v >= 0 && v <= largest) {
					t.Errorf("%s: %s is %g", name, k, v)
				}
			}
		}
	})
}
