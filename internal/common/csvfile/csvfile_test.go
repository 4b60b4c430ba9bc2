package csvfile

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "runc": "runc", "a=b": "a=b", "'": "'", "'tis": "'tis",
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-cmd": "'-cmd", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\x01": "'\x01",
		"＝1": "'＝1", "−1": "'−1", "-": "'-", "-1-1": "'-1-1", "+1e": "'+1e", "-0x10": "'-0x10", "+Inf": "'+Inf",
		"-1.5": "-1.5", "+3": "+3", "-1e-3": "-1e-3", "-.5": "-.5",
		"'=1": "''=1", "'-1.5": "''-1.5",
	} {
		if got := Quote(cell); got != want {
			t.Errorf("%q became %q, expected %q", cell, got, want)
		}
	}
}

// FuzzQuote: two texts never become the same, numbers stay, and what is written reads
// back as a text that no spreadsheet executes.
func FuzzQuote(f *testing.F) {
	f.Add("=1", 1.5)
	f.Add("''-1", -1e-300)
	f.Fuzz(func(t *testing.T, cell string, n float64) {
		got := Quote(cell)
		if back := strings.TrimPrefix(got, "'"); got != cell && back != cell {
			t.Errorf("%q became %q", cell, got)
		}
		if Quote("'"+cell) == got {
			t.Errorf("%q and %q become the same", cell, "'"+cell)
		}
		if text := strconv.FormatFloat(n, 'g', -1, 64); !math.IsInf(n, 0) && Quote(text) != text {
			t.Errorf("the number %s became %s", text, Quote(text))
		}
	})
}

func TestWriteAll(t *testing.T) {
	rows := [][]string{{"name", "value"}, {"=1,\"x\"", "-1.5"}}
	for raw, want := range map[bool]string{false: "'=1,\"x\"", true: "=1,\"x\""} {
		var out strings.Builder
		if err := (Options{Raw: raw}).WriteAll(&out, rows); err != nil {
			t.Fatal(err)
		}
		back, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || back[1][0] != want || back[1][1] != "-1.5" {
			t.Errorf("raw %v: %q, %v", raw, back, err)
		}
	}
}
