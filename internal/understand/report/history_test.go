package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/words"
)

// past is a study that ran twelve times. From the eighth run on there is
// another runc, and it takes 15 % more; the machine was 6 % slower in the fourth
// run; docker-api, 20 % slower in the last run; podman, missing in the third
// and gone in the last. A run on another machine is between them.
func past(t testing.TB, o history.Options) *history.Histories {
	t.Helper()
	var runs []history.Past
	for i := range 13 {
		s := before()
		s.Seed, s.ID = uint64(100+i), fmt.Sprintf("5c%02d", i+1)
		s.Started = time.Date(2026, 3, 1+i, 9, 26, 0, 0, time.UTC)
		s.Blocks = 12
		if i == 3 {
			for k := range s.Envs {
				s.Envs[k].StartUp = s.Envs[k].StartUp * 106 / 100
			}
		}
		if i >= 8 {
			s.Envs[3].StartUp = s.Envs[3].StartUp * 115 / 100
		}
		if i == 12 {
			s.Envs[4].StartUp = s.Envs[4].StartUp * 120 / 100
		}
		if i == 2 || i == 12 {
			s.Envs = s.Envs[:5]
		}
		of := result
		if i >= 8 || i == 5 { // changed below
			of = fresh
		}
		r := of(t, s)
		if i >= 8 {
			r.Audit.Environments[3].Configuration["version"] = "1.3.0"
		}
		if i == 5 {
			r.Run.Host.CPU = "Other 9000"
		}
		runs = append([]history.Past{{Dir: "runs/" + s.ID, Result: r}}, runs...) // the order is that of the start
	}
	skipped := []history.SkippedRun{{Dir: "runs/broken", Reason: "reading run.json: its format is 2, and this plimsoll reads up to 1"}}
	h, err := history.New(runs, skipped, o)
	require.NoError(t, err)
	return h
}

func TestHistoryGolden(t *testing.T) {
	h := past(t, history.Options{Seed: 1})
	h.Judge()
	for name, k := range map[string]struct {
		format string
		opts   Options
	}{
		"history.txt": {"text", Options{Width: 110}}, "history-color.txt": {"text", Options{Width: 110, Color: true, Marks: true}},
		"history-60.txt": {"text", Options{Width: 60, Color: true, Marks: true, ASCII: true}},
		"history.md":     {"markdown", Options{}}, "history.csv": {"csv", Options{}}, "history.json": {"json", Options{}},
	} {
		var b bytes.Buffer
		require.NoError(t, Histories.Write(&b, k.format, h, k.opts))
		if k.format != "json" { // its fields stand in testdata/json
			isGolden(t, name, b.String())
		}
		switch k.format {
		case "json":
			var again history.Histories
			if err := json.Unmarshal(b.Bytes(), &again); err != nil || again.Schema != 1 || len(again.Histories) != 2 {
				t.Errorf("%v: %+v", err, again)
			}
		case "csv":
			rows, err := csv.NewReader(&b).ReadAll()
			want := 2 // the head and the skipped one
			for _, x := range h.Histories {
				want += len(x.Series) * len(x.Runs)
			}
			if err != nil || len(rows) != want {
				t.Errorf("%d rows, want %d: %v", len(rows), want, err)
			}
		case "text":
			for _, l := range strings.Split(b.String(), "\n") {
				if l = ansi.ReplaceAllString(l, ""); words.Width(l) > k.opts.Width {
					t.Errorf("%s: too wide: %q", name, l)
				}
				if sparks := strings.ContainsAny(l, "▁▂▃▄▅▆▇█"); sparks && (!k.opts.Marks || k.opts.ASCII) {
					t.Errorf("%s: %q", name, l)
				}
			}
		}
	}
}

// Names from files reach no terminal as they are.
func TestHistoryHostileNames(t *testing.T) {
	h := past(t, history.Options{Seed: 1})
	const evil = "x\x1b]0;owned\x07\u202e|<b>"
	h.Skipped[0] = history.SkippedRun{Dir: evil, Reason: evil}
	x := &h.Histories[0]
	x.Study, x.Machine = evil, evil
	for i := range x.Runs {
		x.Runs[i].Run, x.Runs[i].Dir = evil, evil
	}
	for i := range x.Series {
		x.Series[i].Env, x.Series[i].Workload, x.Series[i].Metric.Title = evil, evil, evil
	}
	x.Remarks = append(x.Remarks, record.Remark{Code: "gap", Level: "warn", Text: evil, Advice: evil})
	h.Judge()
	for _, f := range []string{"text", "markdown", "csv"} {
		var b bytes.Buffer
		require.NoError(t, Histories.Write(&b, f, h, Options{}))
		if s := b.String(); strings.ContainsAny(s, "\x1b\x07\u202e") || f == "markdown" && strings.Contains(s, "<b>") {
			t.Errorf("%s: %q", f, s)
		}
	}
}

// TestHistoryManual: what docs/history.md shows is what the program prints, and
// it explains every remark that there is.
func TestHistoryManual(t *testing.T) {
	manual, err := os.ReadFile("../../../docs/history.md")
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, Histories.Write(&b, "text", past(t, history.Options{Seed: 1}), Options{Width: 110}))
	blocks := regexp.MustCompile("(?s)```text\n(.*?)\n```").FindAllStringSubmatch(string(manual), -1)
	if len(blocks) == 0 {
		t.Error("no example")
	}
	for _, shown := range blocks {
		if !strings.Contains(b.String(), shown[1]) {
			t.Errorf("not what is printed: copy it anew from history.txt in internal/understand/report/testdata:\n%s", shown[1])
		}
	}
	source, err := os.ReadFile("../analyze/history/remarks.go")
	require.NoError(t, err)
	codes := regexp.MustCompile(`(?:\badd\(|Code: |code, level, advice :?= )"([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(codes) < 6 {
		t.Errorf("only %d remarks found in the source", len(codes))
	}
	for _, m := range codes {
		if !strings.Contains(string(manual), "`"+m[1]+"`") {
			t.Errorf("remark %s is not explained", m[1])
		}
	}
}
