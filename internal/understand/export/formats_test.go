package export

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
)

// hostile is a run whose names are what nobody should call anything.
func hostile(t *testing.T) *record.Reader {
	s := recordtest.Typical()
	s.Blocks, s.Warmup, s.PerBlock, s.Excluded = 2, 0, 1, nil
	s.Envs = s.Envs[1:4]
	s.Envs[0].ID = "a b/c=d\nBenchmarkX 1 2 ns/op"
	s.Envs[1].ID = "x-8"
	s.Envs[2].ID = "50 % \\input{x} _ $ & # \x1b[31m \"q\" \u202e"
	s.Envs[2].Levels = map[string]string{"Storage Driver:": "a\nb", "ÄÖ": "1", "äö": "2"}
	s.Workloads[0].ID, s.Workloads[0].Title = "ünder_score-4", "100 % _x_ {y}"
	return s.Open(t)
}

// benchstat's own reader takes what we write, value for value.
func TestBenchfmtIsRead(t *testing.T) {
	for name, r := range map[string]*record.Reader{"small": small(t), "hostile": hostile(t)} {
		want, have := map[float64]int{}, 0
		for tr, err := range r.Trials() {
			require.NoError(t, err)
			if v, ok := record.LifeCycle[1].Derive(tr); ok && !tr.Warmup {
				want[float64(v)]++
			}
		}
		rd := benchfmt.NewReader(bytes.NewReader(written(t, r, "benchfmt", Options{})), name)
		names := map[string]bool{}
		for rd.Scan() {
			switch rec := rd.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Fatalf("%s: %v", name, rec)
			case *benchfmt.Result:
				names[rec.Name.String()] = true
				for _, v := range rec.Values {
					if v.OrigUnit == "startup-ns/op" {
						have++
						want[v.OrigValue]--
						if v.Unit != "startup-sec/op" || math.Abs(v.Value*1e9-v.OrigValue) > 1e-6*v.OrigValue {
							t.Errorf("%v", v)
						}
					}
				}
				if rec.GetConfig("engine") == "" || rec.GetConfig("environment") == "" {
					t.Errorf("%s: %v", name, rec.Config)
				}
			}
		}
		if rd.Err() != nil || have == 0 {
			t.Errorf("%s: %d values: %v", name, have, rd.Err())
		}
		for v, n := range want {
			if n != 0 {
				t.Errorf("%s: %g occurs %d times too seldom", name, v, n)
			}
		}
		if name == "hostile" && len(names) != 3 {
			t.Errorf("benchmarks %v", names)
		}
		if rd.Units().GetBetter("startup-ns/op") != -1 {
			t.Error("start-up has no direction")
		}
	}
}

func TestHyperfineSums(t *testing.T) {
	var f struct {
		Results []struct {
			Command              string
			Mean, StdDev, Median float64
			Min, Max             float64
			Times                []float64
			ExitCodes            []int `json:"exit_codes"`
			Parameters           map[string]string
		}
	}
	require.NoError(t, json.Unmarshal(written(t, small(t), "hyperfine", Options{Metric: "whole"}), &f))
	if len(f.Results) == 0 {
		t.Fatal("no results")
	}
	for _, r := range f.Results {
		sum := 0.0
		for _, x := range r.Times {
			sum += x
			if x < r.Min || x > r.Max {
				t.Errorf("%s: %g is not in [%g, %g]", r.Command, x, r.Min, r.Max)
			}
		}
		if math.Abs(sum/float64(len(r.Times))-r.Mean) > 1e-12 || len(r.ExitCodes) != len(r.Times) || r.Parameters["metric"] != "whole" {
			t.Errorf("%+v", r)
		}
		if len(r.Times) == 2 {
			a, b := r.Times[0], r.Times[1]
			if math.Abs(r.StdDev-math.Abs(a-b)/math.Sqrt2) > 1e-12 || math.Abs(r.Median-(a+b)/2) > 1e-12 {
				t.Errorf("%+v", r)
			}
		}
	}
}

var (
	omMeta   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	omSample = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)\{([a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*)\} (\S+)$`)
)

// Values of a tuned machine, which is not the one that users have, never stand unmarked.
func TestTuned(t *testing.T) {
	for format, mark := range map[string]string{"csv": ",false,,true,", "json": `"tuned":true`, "benchfmt": "\ntuned: yes\n", "openmetrics": `,tuned="yes"`} {
		r := small(t)
		if text := string(written(t, r, format, Options{})); strings.Contains(text, mark) {
			t.Errorf("%s has %q of a machine as users have it", format, mark)
		}
		r.Run().Protocol.Tuned = true
		if text := string(written(t, r, format, Options{})); !strings.Contains(text, mark) {
			t.Errorf("%s has no %q:\n%.600s", format, mark, text)
		}
	}
}

// The rules of OpenMetrics 1.0 that a reader trips over: families in one
// piece, a unit that ends its name, no sample twice, an end.
func TestOpenMetrics(t *testing.T) {
	for name, r := range map[string]*record.Reader{"small": small(t), "hostile": hostile(t)} {
		text := string(written(t, r, "openmetrics", Options{}))
		if !strings.HasSuffix(text, "\n# EOF\n") {
			t.Errorf("%s has no end", name)
		}
		types, samples, family := map[string]bool{}, map[string]bool{}, ""
		for _, l := range strings.Split(strings.TrimSuffix(text, "# EOF\n"), "\n") {
			if l == "" {
				continue
			}
			if m := omMeta.FindStringSubmatch(l); m != nil {
				if m[1] == "TYPE" {
					if types[m[2]] {
						t.Errorf("%s: a second family %s", name, m[2])
					}
					types[m[2]], family = true, m[2]
				}
				if m[1] == "UNIT" && !strings.HasSuffix(m[2], "_"+m[3]) {
					t.Errorf("%s: unit %s of %s", name, m[3], m[2])
				}
				continue
			}
			m := omSample.FindStringSubmatch(l)
			switch {
			case m == nil:
				t.Errorf("%s: %q", name, l)
			case m[1] != family && m[1] != family+"_info":
				t.Errorf("%s: %s stands in the family %s", name, m[1], family)
			case samples[m[1]+m[2]]:
				t.Errorf("%s: twice: %s", name, l)
			default:
				samples[m[1]+m[2]] = true
			}
		}
		if len(samples) < 50 {
			t.Errorf("%s: only %d samples", name, len(samples))
		}
	}
}

// No name becomes a command of TeX, nor anything but text.
func TestLaTeXEscapes(t *testing.T) {
	text := string(written(t, hostile(t), "latex", Options{}))
	for _, l := range strings.Split(text, "\n") {
		if strings.HasPrefix(l, "%") {
			continue
		}
		bare := strings.NewReplacer(`\\`, "", `\%`, "", `\_`, "", `\$`, "", `\&`, "", `\#`, "", `\{`, "", `\}`, "", `$\times$`, "").Replace(l)
		if strings.ContainsAny(bare, "%_#$\x1b") || strings.Contains(l, `\input`) {
			t.Errorf("%q", l)
		}
	}
	if !strings.Contains(text, `\textbackslash{}input\{x\}`) || strings.Count(text, `\toprule`) == 0 {
		t.Errorf("%s", text)
	}
}
